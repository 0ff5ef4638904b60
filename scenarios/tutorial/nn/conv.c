#include "scenarios/tutorial/nn/conv.h"

#include <string.h>

#include "scenarios/tutorial/nn/matrix.h"

static size_t side_out(const struct conv_shape *shape)
{
	return shape->side - shape->kernel + 1;
}

/* Row (c, ky, kx) of the columns is channel c seen through the kernel's pixel
 * (ky, kx), line by line: the lines of the image, moved. Returns where in the
 * image a line of the columns begins. */
static size_t line_begin(const struct conv_shape *shape, size_t line)
{
	size_t y = line % side_out(shape), row = line / side_out(shape);
	size_t kernel = shape->kernel, c = row / (kernel * kernel);
	size_t ky = row / kernel % kernel, kx = row % kernel;

	return (c * shape->side + y + ky) * shape->side + kx;
}

static size_t num_lines(const struct layer *layer,
			const struct conv_shape *shape)
{
	return layer->inputs * side_out(shape);
}

void conv_forward(const struct layer *layer, const struct conv_shape *shape,
		  const float *x, float *columns, float *y)
{
	size_t in = layer->inputs, out = layer->outputs;
	size_t length = side_out(shape), n = length * length;

	for (size_t i = 0; i < num_lines(layer, shape); i++)
		memcpy(columns + i * length, x + line_begin(shape, i),
		       length * sizeof(float));
	for (size_t o = 0; o < out; o++)
		for (size_t i = 0; i < n; i++)
			y[o * n + i] = layer->bias[o];
	matrix_add_ab(out, n, in, layer->weight, columns, y);
}

void conv_backward(const struct layer *layer, const struct conv_shape *shape,
		   const float *dy, float *columns, float *dx)
{
	size_t in = layer->inputs, out = layer->outputs;
	size_t length = side_out(shape), n = length * length;

	matrix_add_abt(out, in, n, dy, columns, layer->weight_grad);
	for (size_t o = 0; o < out; o++)
		for (size_t i = 0; i < n; i++)
			layer->bias_grad[o] += dy[o * n + i];
	if (!dx)
		return;
	memset(columns, 0, in * n * sizeof(float));
	matrix_add_atb(in, n, out, layer->weight, dy, columns);
	memset(dx, 0,
	       shape->channels * shape->side * shape->side * sizeof(float));
	/* A pixel lies under the kernel several times; its gradients add up. */
	for (size_t i = 0; i < num_lines(layer, shape) * length; i++)
		dx[line_begin(shape, i / length) + i % length] += columns[i];
}
