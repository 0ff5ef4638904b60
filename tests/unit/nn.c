/* The networks of the tutorials: every gradient against finite differences,
 * and the layers against the plain formulas. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scenarios/tutorial/digits.h"
#include "scenarios/tutorial/nn/layers.h"
#include "scenarios/tutorial/nn/convnet.h"
#include "scenarios/tutorial/nn/toymodel.h"
#include "tests/support/leaks.h"

/* ---- gradients ---------------------------------------------------------- */

/* A network and its loss, as a function of the parameters. */
struct function {
	struct network *network;
	double (*loss)(void *arg); /* adds the gradients, too */
	void *arg;
};

static double loss_at(const struct function *f, float *params, size_t num,
		      const float *from, const float *direction, double step)
{
	for (size_t i = 0; i < num; i++)
		params[i] = (float)(from[i] + step * direction[i]);
	return f->loss(f->arg);
}

/* The slope of the loss along direction, a unit vector, by the loss before and
 * behind; params is as it was then. */
static double slope(const struct function *f, float *params, size_t num,
		    const float *direction)
{
	static float from[CONVNET_NUMEL];
	const double step = 5e-4;
	double up, down;

	memcpy(from, params, num * sizeof(float));
	up = loss_at(f, params, num, from, direction, step);
	down = loss_at(f, params, num, from, direction, -step);
	memcpy(params, from, num * sizeof(float));
	return (up - down) / (2 * step);
}

/*
 * One tensor of parameters: along the gradient that backward computed the loss
 * must rise by the gradient's length, and along any other direction by the
 * product of both. The directions are half noise.
 */
static void check_tensor(const struct function *f, float *params, float *grads,
			 size_t num, const char *name)
{
	static float g[CONVNET_NUMEL], direction[CONVNET_NUMEL];
	struct random_stream stream = random_stream(7, num);

	network_zero_grads(f->network);
	f->loss(f->arg);
	memcpy(g, grads, num * sizeof(float));
	for (int trial = 0; trial < 4; trial++) {
		double length = 0, norm = 0, product = 0, measured;

		for (size_t i = 0; i < num; i++)
			norm += (double)g[i] * (double)g[i];
		norm = sqrt(norm);
		cr_assert_gt(norm, 1e-3, "%s: no gradient", name);
		for (size_t i = 0; i < num; i++) {
			float noise =
				random_normal(&stream) / sqrtf((float)num);

			direction[i] = g[i] / (float)norm + (trial ? noise : 0);
			length += (double)direction[i] * (double)direction[i];
		}
		for (size_t i = 0; i < num; i++) {
			direction[i] /= (float)sqrt(length);
			product += (double)direction[i] * (double)g[i];
		}
		measured = slope(f, params, num, direction);
		cr_expect_lt(fabs(measured - product), 0.01 * norm,
			     "%s: slope %g, gradient says %g", name, measured,
			     product);
	}
}

static void check_gradients(const struct function *f)
{
	static const char *const names[][2] = {
		{"weight 0", "bias 0"},
		{"weight 1", "bias 1"},
		{"weight 2", "bias 2"},
		{"weight 3", "bias 3"},
	};

	for (size_t i = 0; i < f->network->num_layers; i++) {
		struct layer *layer = &f->network->layers[i];

		check_tensor(f, layer->weight, layer->weight_grad,
			     layer->inputs * layer->outputs, names[i][0]);
		check_tensor(f, layer->bias, layer->bias_grad, layer->outputs,
			     names[i][1]);
	}
}

#define IMAGES 8

struct images {
	struct convnet net;
	float pixels[IMAGES][CONVNET_PIXELS];
	size_t labels[IMAGES];
	bool dropout;
};

static double loss_of_images(void *arg)
{
	struct images *images = arg;
	double loss = 0;

	for (size_t i = 0; i < IMAGES; i++) {
		struct random_stream dropout = random_stream(3, i);

		convnet_forward(&images->net, images->pixels[i],
				images->dropout ? &dropout : NULL);
		loss += convnet_backward(&images->net, images->labels[i],
					 1.0F / IMAGES);
	}
	return loss / IMAGES;
}

static void check_convnet(bool dropout)
{
	static struct images images;
	const struct function f = {&images.net.network, loss_of_images,
				   &images};
	struct digits digits;

	images.dropout = dropout;
	cr_assert(digits_draw(&digits, IMAGES, 5));
	for (size_t i = 0; i < IMAGES; i++) {
		digits_normalize(&digits, i, images.pixels[i]);
		images.labels[i] = digits.labels[i];
	}
	digits_release(&digits);
	cr_assert(convnet_init(&images.net, 11));
	cr_assert_eq(images.net.network.numel, CONVNET_NUMEL);
	check_gradients(&f);
	convnet_release(&images.net);
	cr_assert_not(leaks_found());
}

Test(nn, gradients_of_the_convnet_are_its_slopes)
{
	check_convnet(false);
}

Test(nn, gradients_of_the_convnet_with_dropout_are_its_slopes)
{
	check_convnet(true);
}

struct toy {
	struct toymodel model;
	struct toymodel_batch batch;
};

static double loss_of_toy(void *arg)
{
	struct toy *toy = arg;

	return toymodel_train(&toy->model, &toy->batch);
}

Test(nn, gradients_of_the_toymodel_are_its_slopes)
{
	static struct toy toy;
	const struct function f = {&toy.model.network, loss_of_toy, &toy};

	toy.batch = toymodel_batch(5, 0);
	cr_assert(toymodel_init(&toy.model, 11));
	check_gradients(&f);
	toymodel_release(&toy.model);
}

/* ---- layers ------------------------------------------------------------- */

static void fill(float *values, size_t num, uint64_t seed)
{
	struct random_stream stream = random_stream(seed, num);

	for (size_t i = 0; i < num; i++)
		values[i] = random_uniform(&stream, -1, 1);
}

/* Pixel (y, x) of output channel o, by the definition. */
static double convolved(const struct layer *layer,
			const struct conv_shape *shape, const float *image,
			size_t o, size_t y, size_t x)
{
	const float *weight = layer->weight + o * layer->inputs;
	size_t side = shape->side, kernel = shape->kernel;
	double sum = (double)layer->bias[o];

	for (size_t i = 0; i < layer->inputs; i++) {
		size_t c = i / (kernel * kernel);
		size_t ky = i / kernel % kernel, kx = i % kernel;

		sum += (double)weight[i] *
		       (double)image[(c * side + y + ky) * side + x + kx];
	}
	return sum;
}

Test(nn, convolution_is_what_its_definition_says)
{
	enum { CHANNELS = 2, SIDE = 6, KERNEL = 3, OUT = 3, LEFT = 4 };
	const struct conv_shape shape = {CHANNELS, SIDE, KERNEL};
	const struct layer_shape inputs = {CHANNELS * KERNEL * KERNEL, OUT};
	float image[CHANNELS * SIDE * SIDE], y[OUT * LEFT * LEFT];
	float columns[CHANNELS * KERNEL * KERNEL * LEFT * LEFT];
	struct network network;

	cr_assert(network_init(&network, &inputs, 1, 1));
	fill(image, sizeof image / sizeof image[0], 2);
	conv_forward(&network.layers[0], &shape, image, columns, y);
	for (size_t i = 0; i < OUT * LEFT * LEFT; i++)
		cr_expect_float_eq((double)y[i],
				   convolved(&network.layers[0], &shape, image,
					     i / (LEFT * LEFT), i / LEFT % LEFT,
					     i % LEFT),
				   1e-5);
	network_release(&network);
}

Test(nn, linear_is_what_its_definition_says)
{
	enum { ROWS = 3, IN = 4, OUT = 2 };
	const struct layer_shape shape = {IN, OUT};
	float x[ROWS * IN], y[ROWS * OUT];
	struct network network;

	cr_assert(network_init(&network, &shape, 1, 1));
	fill(x, ROWS * IN, 2);
	linear_forward(&network.layers[0], x, ROWS, y);
	for (size_t i = 0; i < ROWS * OUT; i++) {
		double sum = (double)network.layers[0].bias[i % OUT];

		for (size_t k = 0; k < IN; k++)
			sum += (double)network.layers[0]
				       .weight[i % OUT * IN + k] *
			       (double)x[i / OUT * IN + k];
		cr_expect_float_eq((double)y[i], sum, 1e-5);
	}
	network_release(&network);
}

Test(nn, pooling_takes_the_largest_and_gives_back_to_it)
{
	/* Two channels of 4 by 4: each square's largest in another corner. */
	const float x[32] = {9, 1, 1,         9,         1,         1,        1,
			     1, 1, 1,         1,         1,         9,        1,
			     1, 9, [16] = -3, [17] = -4, [20] = -5, [21] = -6};
	const float dy[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	float y[8], dx[32];
	size_t from[8];

	pool_forward(x, 2, 4, y, from);
	cr_expect_eq(y[0], 9);
	cr_expect_eq(y[3], 9);
	cr_expect_eq(y[4], -3);
	pool_backward(dy, from, 8, dx, 32);
	cr_expect_eq(dx[0], 1);
	cr_expect_eq(dx[3], 2);
	cr_expect_eq(dx[12], 3);
	cr_expect_eq(dx[15], 4);
	cr_expect_eq(dx[16], 5);
	cr_expect_eq(dx[5], 0);
}

Test(nn, dropout_drops_half_and_doubles_the_rest)
{
	struct random_stream stream = random_stream(1, 0);
	float factors[1000], x[4] = {1, 1, 1, 1};
	int kept = 0;

	dropout_draw(&stream, factors, 1000);
	for (size_t i = 0; i < 1000; i++) {
		cr_assert(factors[i] == 0 || factors[i] == 2);
		kept += factors[i] == 2;
	}
	cr_expect(kept > 400 && kept < 600, "%d of 1000 kept", kept);
	factors[0] = 0;
	factors[1] = 2;
	dropout_apply(factors, 2, 2, x);
	cr_expect(x[0] == 0 && x[1] == 0 && x[2] == 2 && x[3] == 2);
	dropout_draw(NULL, factors, 1000);
	cr_expect_eq(factors[999], 1);
}

Test(nn, probabilities_add_up_to_one_even_of_huge_scores)
{
	float scores[4] = {1000, 999, -1000, 1000}, d_scores[4];
	double sum = 0, loss;

	log_softmax(scores, 4);
	for (size_t i = 0; i < 4; i++)
		sum += exp((double)scores[i]);
	cr_expect_float_eq(sum, 1, 1e-6);
	loss = nll_loss(scores, 4, 1, 1, d_scores);
	cr_expect_float_eq(loss, log(2 * exp(1) + 1), 1e-5);
}

Test(nn, a_step_goes_by_velocity)
{
	const struct layer_shape shape = {1, 1};
	struct network network;

	cr_assert(network_init(&network, &shape, 1, 1));
	network.params[0] = 1;
	network.grads[0] = 2;
	network_step(&network, 0.25F, 0.5F);
	cr_expect_eq(network.params[0], 0.5F); /* velocity 2 */
	network_step(&network, 0.25F, 0.5F);
	cr_expect_eq(network.params[0], -0.25F); /* velocity 3 */
	network_release(&network);
}
