/*
 * toymodel.h - the ToyModel of the DDP tutorials in plain C: net1 from 10 to
 * 10, ReLU, net2 from 10 to 5; trained on rows of random numbers by the mean
 * squared error.
 */
#ifndef LOCKSTEP_TUTORIAL_TOYMODEL_H
#define LOCKSTEP_TUTORIAL_TOYMODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOYMODEL_INPUTS  10
#define TOYMODEL_HIDDEN  10
#define TOYMODEL_OUTPUTS 5
#define TOYMODEL_ROWS    20 /* of a batch */
#define TOYMODEL_NUMEL                                                         \
	((TOYMODEL_INPUTS + 1) * TOYMODEL_HIDDEN +                             \
	 (TOYMODEL_HIDDEN + 1) * TOYMODEL_OUTPUTS)

/* Operations that training on one row takes: a multiplication and an addition
 * for each weight, once forward and, for the gradients of inputs and weights,
 * twice backward. */
#define TOYMODEL_FLOPS                                                         \
	(3 * 2.0 *                                                             \
	 (TOYMODEL_INPUTS * TOYMODEL_HIDDEN +                                  \
	  TOYMODEL_HIDDEN * TOYMODEL_OUTPUTS))

/* A batch: what goes in and what should come out, row by row. */
struct toymodel_batch {
	float inputs[TOYMODEL_ROWS * TOYMODEL_INPUTS];
	float labels[TOYMODEL_ROWS * TOYMODEL_OUTPUTS];
};

/* The parameters layer by layer, weight before bias; their gradients; and the
 * activations of the batch at hand. */
struct toymodel {
	float params[TOYMODEL_NUMEL];
	float grads[TOYMODEL_NUMEL];
	float hidden[TOYMODEL_ROWS * TOYMODEL_HIDDEN];
	float outputs[TOYMODEL_ROWS * TOYMODEL_OUTPUTS];
	float d_hidden[TOYMODEL_ROWS * TOYMODEL_HIDDEN];
	float d_outputs[TOYMODEL_ROWS * TOYMODEL_OUTPUTS];
};

/* Some rows of a batch. */
struct rows {
	size_t first;
	size_t num;
};

enum { TOYMODEL_NET1, TOYMODEL_NET2, TOYMODEL_LAYERS };

/* One layer: views into a model. */
struct layer {
	size_t inputs;
	size_t outputs;
	float *weight; /* outputs rows of inputs */
	float *bias;   /* outputs */
	float *weight_grad;
	float *bias_grad;
};

struct layer toymodel_layer(struct toymodel *model, int which);

/* toymodel_batch draws a batch from seed and index. */
struct toymodel_batch toymodel_batch(uint64_t seed, uint64_t index);

/* toymodel_init draws the parameters from seed as torch does: uniform between
 * plus and minus 1 / sqrt(inputs of the layer). The rest is zero. */
void toymodel_init(struct toymodel *model, uint64_t seed);

/* The passes of each layer, for these rows of a batch: forward1 maps inputs to
 * model->hidden and forward2 that to model->outputs; backward2 takes
 * model->d_outputs back to model->d_hidden, and backward1 that to d_inputs,
 * unless it is NULL. Both add to the gradients. inputs and d_inputs begin with
 * the batch's first row. */
void toymodel_forward1(struct toymodel *model, const float *inputs,
		       struct rows rows);
void toymodel_forward2(struct toymodel *model, struct rows rows);
void toymodel_backward2(struct toymodel *model, struct rows rows);
void toymodel_backward1(struct toymodel *model, const float *inputs,
			struct rows rows, float *d_inputs);

/* toymodel_loss returns what these rows add to the mean squared difference
 * between the outputs and labels, which begin with the batch's first row, of
 * num_rows rows in all, and writes its gradient to model->d_outputs. */
double toymodel_loss(struct toymodel *model, const float *labels,
		     struct rows rows, double num_rows);

/* toymodel_train goes forward and backward with a batch and returns the mean
 * squared error. The gradients are the batch's alone; no step is taken. */
double toymodel_train(struct toymodel *model,
		      const struct toymodel_batch *batch);

/* toymodel_zero_grads makes ready for the next backward, which adds. */
void toymodel_zero_grads(struct toymodel *model);

/* toymodel_step moves each parameter by -rate times its gradient. */
void toymodel_step(struct toymodel *model, float rate);

/* toymodel_agrees trains model, the whole of one on this device alone, too, at
 * that rate, and prints for the step whether its loss is that of the others, up
 * to the order of additions. Returns whether. */
bool toymodel_agrees(struct toymodel *model, const struct toymodel_batch *batch,
		     float rate, int step, double loss);

#endif
