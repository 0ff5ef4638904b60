#include "scenarios/tutorial/nn/conv.h"

#include <string.h>

#include <cblas.h>

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
	int in = (int)layer->inputs, out = (int)layer->outputs;
	size_t length = side_out(shape), n = length * length;

	for (size_t i = 0; i < num_lines(layer, shape); i++)
		memcpy(columns + i * length, x + line_begin(shape, i),
		       length * sizeof(float));
	for (size_t o = 0; o < layer->outputs; o++)
		for (size_t i = 0; i < n; i++)
			y[o * n + i] = layer->bias[o];
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, out, (int)n, in,
		    1, layer->weight, in, columns, (int)n, 1, y, (int)n);
}

void conv_backward(const struct layer *layer, const struct conv_shape *shape,
		   const float *dy, float *columns, float *dx)
{
	int in = (int)layer->inputs, out = (int)layer->outputs;
	size_t length = side_out(shape), n = length * length;

	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, out, in, (int)n, 1,
		    dy, (int)n, columns, (int)n, 1, layer->weight_grad, in);
	for (size_t o = 0; o < layer->outputs; o++)
		for (size_t i = 0; i < n; i++)
			layer->bias_grad[o] += dy[o * n + i];
	if (!dx)
		return;
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, (int)n, out, 1,
		    layer->weight, in, dy, (int)n, 0, columns, (int)n);
	memset(dx, 0,
	       shape->channels * shape->side * shape->side * sizeof(float));
	/* A pixel lies under the kernel several times; its gradients add up. */
	for (size_t i = 0; i < num_lines(layer, shape) * length; i++)
		dx[line_begin(shape, i / length) + i % length] += columns[i];
}
