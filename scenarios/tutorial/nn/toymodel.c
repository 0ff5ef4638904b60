#include "scenarios/tutorial/nn/toymodel.h"

#include <math.h>
#include <stdio.h>

#include "scenarios/tutorial/nn/layers.h"
#include "scenarios/tutorial/nn/random.h"

static const struct layer_shape shapes[TOYMODEL_LAYERS] = {
	[TOYMODEL_NET1] = {TOYMODEL_INPUTS, TOYMODEL_HIDDEN},
	[TOYMODEL_NET2] = {TOYMODEL_HIDDEN, TOYMODEL_OUTPUTS},
};

struct toymodel_batch toymodel_batch(uint64_t seed, uint64_t index)
{
	struct random_stream stream = random_stream(seed, index);
	struct toymodel_batch batch;

	for (size_t i = 0; i < TOYMODEL_ROWS * TOYMODEL_INPUTS; i++)
		batch.inputs[i] = random_normal(&stream);
	for (size_t i = 0; i < TOYMODEL_ROWS * TOYMODEL_OUTPUTS; i++)
		batch.labels[i] = random_normal(&stream);
	return batch;
}

bool toymodel_init(struct toymodel *model, uint64_t seed)
{
	return network_init(&model->network, shapes, TOYMODEL_LAYERS, seed);
}

void toymodel_release(struct toymodel *model)
{
	network_release(&model->network);
}

void toymodel_forward(struct toymodel *model, const float *inputs, size_t rows)
{
	const struct layer *layers = model->network.layers;

	linear_forward(&layers[TOYMODEL_NET1], inputs, rows, model->hidden);
	relu_forward(model->hidden, rows * TOYMODEL_HIDDEN);
	linear_forward(&layers[TOYMODEL_NET2], model->hidden, rows,
		       model->outputs);
}

void toymodel_backward(struct toymodel *model, const float *inputs, size_t rows)
{
	const struct layer *layers = model->network.layers;

	linear_backward(&layers[TOYMODEL_NET2], model->hidden, model->d_outputs,
			rows, model->d_hidden);
	relu_backward(model->hidden, model->d_hidden, rows * TOYMODEL_HIDDEN);
	linear_backward(&layers[TOYMODEL_NET1], inputs, model->d_hidden, rows,
			NULL);
}

double toymodel_train(struct toymodel *model,
		      const struct toymodel_batch *batch)
{
	size_t num = TOYMODEL_ROWS * TOYMODEL_OUTPUTS;
	double loss;

	network_zero_grads(&model->network);
	toymodel_forward(model, batch->inputs, TOYMODEL_ROWS);
	loss = mse_loss(model->outputs, batch->labels, num, num,
			model->d_outputs);
	toymodel_backward(model, batch->inputs, TOYMODEL_ROWS);
	return loss;
}

bool toymodel_agrees(struct toymodel *model, const struct toymodel_batch *batch,
		     float rate, int step, double loss)
{
	bool agree = fabs(loss - toymodel_train(model, batch)) < 1e-5;

	network_step(&model->network, rate, 0);
	printf("step %d: loss %.3f, %s on one device\n", step, loss,
	       agree ? "as" : "unlike");
	return agree;
}
