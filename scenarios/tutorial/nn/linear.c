#include "scenarios/tutorial/nn/linear.h"

#include <string.h>

#include <cblas.h>

void linear_forward(const struct layer *layer, const float *x, size_t rows,
		    float *y)
{
	int n = (int)rows, in = (int)layer->inputs, out = (int)layer->outputs;

	for (size_t r = 0; r < rows; r++)
		memcpy(y + r * layer->outputs, layer->bias,
		       layer->outputs * sizeof(float));
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, out, in, 1, x,
		    in, layer->weight, in, 1, y, out);
}

void linear_backward(const struct layer *layer, const float *x, const float *dy,
		     size_t rows, float *dx)
{
	int n = (int)rows, in = (int)layer->inputs, out = (int)layer->outputs;

	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in, n, 1, dy,
		    out, x, in, 1, layer->weight_grad, in);
	for (size_t r = 0; r < rows; r++)
		for (size_t o = 0; o < layer->outputs; o++)
			layer->bias_grad[o] += dy[r * layer->outputs + o];
	if (dx)
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, in,
			    out, 1, dy, out, layer->weight, in, 0, dx, in);
}
