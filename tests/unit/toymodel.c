/* The network of the tutorials: its gradients against finite differences, and
 * its passes against the plain formulas. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scenarios/tutorial/random.h"
#include "scenarios/tutorial/toymodel.h"

struct toy {
	struct toymodel model;
	struct toymodel_batch batch;
};

static struct toy draw(void)
{
	struct toy toy = {.batch = toymodel_batch(5, 0)};

	toymodel_init(&toy.model, 11);
	return toy;
}

/* The slope of the loss along direction, a unit vector, by the loss before and
 * behind. */
static double slope(const struct toy *toy, const float *direction)
{
	const double step = 5e-4;
	double loss[2];

	for (int side = 0; side < 2; side++) {
		struct toymodel moved = toy->model;

		for (size_t i = 0; i < TOYMODEL_NUMEL; i++)
			moved.params[i] +=
				(float)((side ? step : -step) * direction[i]);
		loss[side] = toymodel_train(&moved, &toy->batch);
	}
	return (loss[1] - loss[0]) / (2 * step);
}

/*
 * Some parameters, from first on: along the gradient that backward computed the
 * loss must rise by the gradient's length, and along any other direction by the
 * product of both. The directions are half noise.
 */
static void check_gradients(const struct toy *toy, size_t first, size_t num)
{
	const float *g = toy->model.grads + first;
	struct random_stream stream = random_stream(7, first);
	double norm = 0;

	for (size_t i = 0; i < num; i++)
		norm += (double)g[i] * (double)g[i];
	norm = sqrt(norm);
	cr_assert_gt(norm, 1e-3, "%zu: no gradient", first);
	for (int trial = 0; trial < 4; trial++) {
		float direction[TOYMODEL_NUMEL] = {0};
		double length = 0, product = 0, measured;

		for (size_t i = 0; i < num; i++) {
			float noise =
				random_normal(&stream) / sqrtf((float)num);
			float d = g[i] / (float)norm + (trial ? noise : 0);

			direction[first + i] = d;
			length += (double)d * (double)d;
		}
		for (size_t i = 0; i < num; i++) {
			direction[first + i] /= (float)sqrt(length);
			product += (double)direction[first + i] * (double)g[i];
		}
		measured = slope(toy, direction);
		cr_expect_lt(fabs(measured - product), 0.01 * norm,
			     "%zu: slope %g, gradient says %g", first, measured,
			     product);
	}
}

Test(toymodel, gradients_are_its_slopes)
{
	struct toy toy = draw();

	toymodel_train(&toy.model, &toy.batch);
	for (int i = 0; i < TOYMODEL_LAYERS; i++) {
		struct layer layer = toymodel_layer(&toy.model, i);
		size_t weights = layer.inputs * layer.outputs;

		check_gradients(&toy, (size_t)(layer.weight - toy.model.params),
				weights);
		check_gradients(&toy, (size_t)(layer.bias - toy.model.params),
				layer.outputs);
	}
}

Test(toymodel, gradients_of_the_inputs_are_slopes)
{
	const struct rows all = {0, TOYMODEL_ROWS};
	float d_inputs[TOYMODEL_ROWS * TOYMODEL_INPUTS];
	const float step = 1e-2F;
	struct toy toy = draw();

	toymodel_train(&toy.model, &toy.batch);
	toymodel_backward2(&toy.model, all);
	toymodel_backward1(&toy.model, toy.batch.inputs, all, d_inputs);
	for (size_t i = 0; i < TOYMODEL_ROWS * TOYMODEL_INPUTS; i += 17) {
		float was = toy.batch.inputs[i];
		double up, down;

		toy.batch.inputs[i] = was + step;
		up = toymodel_train(&toy.model, &toy.batch);
		toy.batch.inputs[i] = was - step;
		down = toymodel_train(&toy.model, &toy.batch);
		toy.batch.inputs[i] = was;
		cr_expect_float_eq((up - down) / (2 * (double)step),
				   (double)d_inputs[i], 1e-4, "input %zu", i);
	}
}

/* What the formulas say of a row, in double. */
static double output(struct toymodel *model, const float *inputs, size_t o)
{
	struct layer net1 = toymodel_layer(model, TOYMODEL_NET1);
	struct layer net2 = toymodel_layer(model, TOYMODEL_NET2);
	double sum = (double)net2.bias[o];

	for (size_t h = 0; h < TOYMODEL_HIDDEN; h++) {
		double hidden = (double)net1.bias[h];

		for (size_t i = 0; i < TOYMODEL_INPUTS; i++)
			hidden += (double)net1.weight[h * TOYMODEL_INPUTS + i] *
				  (double)inputs[i];
		sum += (double)net2.weight[o * TOYMODEL_HIDDEN + h] *
		       fmax(hidden, 0);
	}
	return sum;
}

/* In two parts, as a pipeline passes them. */
Test(toymodel, outputs_and_loss_are_what_the_definition_says)
{
	const struct rows parts[] = {{0, 7}, {7, TOYMODEL_ROWS - 7}};
	double loss = 0, expected = 0;
	struct toy toy = draw();

	for (int i = 0; i < 2; i++) {
		toymodel_forward1(&toy.model, toy.batch.inputs, parts[i]);
		toymodel_forward2(&toy.model, parts[i]);
		loss += toymodel_loss(&toy.model, toy.batch.labels, parts[i],
				      TOYMODEL_ROWS);
	}
	for (size_t i = 0; i < TOYMODEL_ROWS * TOYMODEL_OUTPUTS; i++) {
		const float *inputs = toy.batch.inputs +
				      i / TOYMODEL_OUTPUTS * TOYMODEL_INPUTS;
		double y = output(&toy.model, inputs, i % TOYMODEL_OUTPUTS);

		cr_expect_float_eq((double)toy.model.outputs[i], y, 1e-5);
		expected += pow(y - (double)toy.batch.labels[i], 2);
	}
	expected /= TOYMODEL_ROWS * TOYMODEL_OUTPUTS;
	cr_expect_float_eq(loss, expected, 1e-5);
	cr_expect_float_eq(toymodel_train(&toy.model, &toy.batch), expected,
			   1e-5);
}

Test(toymodel, a_step_goes_against_the_gradient)
{
	struct toy toy = draw();

	toy.model.params[3] = 1;
	toy.model.grads[3] = 2;
	toymodel_step(&toy.model, 0.25F);
	cr_expect_eq(toy.model.params[3], 0.5F);
}
