#include "scenarios/tutorial/toymodel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/tutorial/random.h"

struct layer toymodel_layer(struct toymodel *model, int which)
{
	const size_t first = which == TOYMODEL_NET1
				     ? 0
				     : (TOYMODEL_INPUTS + 1) * TOYMODEL_HIDDEN;
	struct layer layer = {
		.inputs = which == TOYMODEL_NET1 ? TOYMODEL_INPUTS
						 : TOYMODEL_HIDDEN,
		.outputs = which == TOYMODEL_NET1 ? TOYMODEL_HIDDEN
						  : TOYMODEL_OUTPUTS,
		.weight = model->params + first,
		.weight_grad = model->grads + first,
	};

	layer.bias = layer.weight + layer.inputs * layer.outputs;
	layer.bias_grad = layer.weight_grad + layer.inputs * layer.outputs;
	return layer;
}

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

void toymodel_init(struct toymodel *model, uint64_t seed)
{
	struct random_stream stream = random_stream(seed, 0);

	memset(model, 0, sizeof *model);
	for (int i = 0; i < TOYMODEL_LAYERS; i++) {
		struct layer layer = toymodel_layer(model, i);
		float bound = 1 / sqrtf((float)layer.inputs);

		for (size_t k = 0; k < (layer.inputs + 1) * layer.outputs; k++)
			layer.weight[k] =
				random_uniform(&stream, -bound, bound);
	}
}

/* ---- a layer ------------------------------------------------------------ */

/* y = x weight^T + bias, for rows of inputs at x. */
static void forward(struct layer layer, const float *x, size_t rows, float *y)
{
	for (size_t r = 0; r < rows; r++) {
		const float *row = x + r * layer.inputs;

		for (size_t o = 0; o < layer.outputs; o++) {
			float sum = layer.bias[o];

			for (size_t i = 0; i < layer.inputs; i++)
				sum += row[i] *
				       layer.weight[o * layer.inputs + i];
			y[r * layer.outputs + o] = sum;
		}
	}
}

/* Adds what the gradient dy of the outputs says about the parameters to their
 * gradients, and writes the gradient of x to dx, unless that is NULL. */
static void backward(struct layer layer, const float *x, const float *dy,
		     size_t rows, float *dx)
{
	size_t in = layer.inputs, out = layer.outputs;

	if (dx)
		memset(dx, 0, rows * in * sizeof *dx);
	for (size_t r = 0; r < rows; r++)
		for (size_t o = 0; o < out; o++) {
			float d = dy[r * out + o];

			layer.bias_grad[o] += d;
			for (size_t i = 0; i < in; i++) {
				layer.weight_grad[o * in + i] +=
					d * x[r * in + i];
				if (dx)
					dx[r * in + i] +=
						d * layer.weight[o * in + i];
			}
		}
}

/* ---- the model ---------------------------------------------------------- */

void toymodel_forward1(struct toymodel *model, const float *inputs,
		       struct rows rows)
{
	float *hidden = model->hidden + rows.first * TOYMODEL_HIDDEN;

	forward(toymodel_layer(model, TOYMODEL_NET1),
		inputs + rows.first * TOYMODEL_INPUTS, rows.num, hidden);
	for (size_t i = 0; i < rows.num * TOYMODEL_HIDDEN; i++)
		hidden[i] = fmaxf(hidden[i], 0);
}

void toymodel_forward2(struct toymodel *model, struct rows rows)
{
	forward(toymodel_layer(model, TOYMODEL_NET2),
		model->hidden + rows.first * TOYMODEL_HIDDEN, rows.num,
		model->outputs + rows.first * TOYMODEL_OUTPUTS);
}

void toymodel_backward2(struct toymodel *model, struct rows rows)
{
	backward(toymodel_layer(model, TOYMODEL_NET2),
		 model->hidden + rows.first * TOYMODEL_HIDDEN,
		 model->d_outputs + rows.first * TOYMODEL_OUTPUTS, rows.num,
		 model->d_hidden + rows.first * TOYMODEL_HIDDEN);
}

void toymodel_backward1(struct toymodel *model, const float *inputs,
			struct rows rows, float *d_inputs)
{
	const float *hidden = model->hidden + rows.first * TOYMODEL_HIDDEN;
	float *d_hidden = model->d_hidden + rows.first * TOYMODEL_HIDDEN;
	size_t input = rows.first * TOYMODEL_INPUTS;

	/* ReLU lets no gradient through where it gave 0. */
	for (size_t i = 0; i < rows.num * TOYMODEL_HIDDEN; i++)
		d_hidden[i] = hidden[i] > 0 ? d_hidden[i] : 0;
	backward(toymodel_layer(model, TOYMODEL_NET1), inputs + input, d_hidden,
		 rows.num, d_inputs ? d_inputs + input : NULL);
}

double toymodel_loss(struct toymodel *model, const float *labels,
		     struct rows rows, double num_rows)
{
	size_t first = rows.first * TOYMODEL_OUTPUTS;
	double sum = 0, total = num_rows * TOYMODEL_OUTPUTS;

	for (size_t i = first; i < first + rows.num * TOYMODEL_OUTPUTS; i++) {
		float difference = model->outputs[i] - labels[i];

		sum += (double)difference * (double)difference;
		model->d_outputs[i] = 2 * difference / (float)total;
	}
	return sum / total;
}

double toymodel_train(struct toymodel *model,
		      const struct toymodel_batch *batch)
{
	const struct rows all = {0, TOYMODEL_ROWS};
	double loss;

	toymodel_zero_grads(model);
	toymodel_forward1(model, batch->inputs, all);
	toymodel_forward2(model, all);
	loss = toymodel_loss(model, batch->labels, all, TOYMODEL_ROWS);
	toymodel_backward2(model, all);
	toymodel_backward1(model, batch->inputs, all, NULL);
	return loss;
}

void toymodel_zero_grads(struct toymodel *model)
{
	memset(model->grads, 0, sizeof model->grads);
}

void toymodel_step(struct toymodel *model, float rate)
{
	for (size_t i = 0; i < TOYMODEL_NUMEL; i++)
		model->params[i] -= rate * model->grads[i];
}

bool toymodel_agrees(struct toymodel *model, const struct toymodel_batch *batch,
		     float rate, int step, double loss)
{
	bool agree = fabs(loss - toymodel_train(model, batch)) < 1e-5;

	toymodel_step(model, rate);
	printf("step %d: loss %.3f, %s on one device\n", step, loss,
	       agree ? "as" : "unlike");
	return agree;
}
