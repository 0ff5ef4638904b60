#include "scenarios/tutorial/nn/linear.h"

#include <string.h>

#include "scenarios/tutorial/nn/matrix.h"

void linear_forward(const struct layer *layer, const float *x, size_t rows,
		    float *y)
{
	size_t in = layer->inputs, out = layer->outputs;

	for (size_t r = 0; r < rows; r++)
		memcpy(y + r * out, layer->bias, out * sizeof(float));
	matrix_add_abt(rows, out, in, x, layer->weight, y);
}

void linear_backward(const struct layer *layer, const float *x, const float *dy,
		     size_t rows, float *dx)
{
	size_t in = layer->inputs, out = layer->outputs;

	matrix_add_atb(out, in, rows, dy, x, layer->weight_grad);
	for (size_t r = 0; r < rows; r++)
		for (size_t o = 0; o < out; o++)
			layer->bias_grad[o] += dy[r * out + o];
	if (!dx)
		return;
	memset(dx, 0, rows * in * sizeof(float));
	matrix_add_ab(rows, in, out, dy, layer->weight, dx);
}
