/*
 * toymodel.h - the ToyModel of the DDP tutorials: net1 from 10 to 10, ReLU,
 * net2 from 10 to 5; trained on rows of random numbers.
 */
#ifndef LOCKSTEP_TUTORIAL_NN_TOYMODEL_H
#define LOCKSTEP_TUTORIAL_NN_TOYMODEL_H

#include "scenarios/tutorial/nn/network.h"

#define TOYMODEL_INPUTS  10
#define TOYMODEL_HIDDEN  10
#define TOYMODEL_OUTPUTS 5
#define TOYMODEL_ROWS    20 /* of a batch */

enum { TOYMODEL_NET1, TOYMODEL_NET2, TOYMODEL_LAYERS };

/* A batch: what goes in and what should come out, row by row. */
struct toymodel_batch {
	float inputs[TOYMODEL_ROWS * TOYMODEL_INPUTS];
	float labels[TOYMODEL_ROWS * TOYMODEL_OUTPUTS];
};

/* The model and the activations of the batch at hand. */
struct toymodel {
	struct network network;
	float hidden[TOYMODEL_ROWS * TOYMODEL_HIDDEN];
	float outputs[TOYMODEL_ROWS * TOYMODEL_OUTPUTS];
	float d_hidden[TOYMODEL_ROWS * TOYMODEL_HIDDEN];
	float d_outputs[TOYMODEL_ROWS * TOYMODEL_OUTPUTS];
};

/* toymodel_batch draws a batch from seed and index. */
struct toymodel_batch toymodel_batch(uint64_t seed, uint64_t index);

/* toymodel_init makes a model with parameters drawn from seed. Returns false
 * when out of memory; toymodel_release() is right then, too. */
bool toymodel_init(struct toymodel *model, uint64_t seed);

void toymodel_release(struct toymodel *model);

/* toymodel_forward maps rows, up to TOYMODEL_ROWS, of inputs to
 * model->outputs. */
void toymodel_forward(struct toymodel *model, const float *inputs, size_t rows);

/* toymodel_backward adds to the gradients what model->d_outputs says, for the
 * rows that went forward last. */
void toymodel_backward(struct toymodel *model, const float *inputs,
		       size_t rows);

/* toymodel_train goes forward and backward with a batch and returns the mean
 * squared error. The gradients are the batch's alone; no step is taken. */
double toymodel_train(struct toymodel *model,
		      const struct toymodel_batch *batch);

/* toymodel_agrees trains model, the whole of one on this device alone, too, at
 * that rate, and prints for the step whether its loss is that of the others, up
 * to the order of additions. Returns whether. */
bool toymodel_agrees(struct toymodel *model, const struct toymodel_batch *batch,
		     float rate, int step, double loss);

#endif
