#include "scenarios/tutorial/nn/activation.h"

void relu_forward(float *x, size_t num)
{
	for (size_t i = 0; i < num; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
}

void relu_backward(const float *y, float *dy, size_t num)
{
	for (size_t i = 0; i < num; i++)
		dy[i] = y[i] > 0 ? dy[i] : 0;
}

void dropout_draw(struct random_stream *stream, float *factors, size_t num)
{
	for (size_t i = 0; i < num; i++)
		factors[i] = stream ? 2 * (float)random_below(stream, 2) : 1;
}

void dropout_apply(const float *factors, size_t num, size_t size, float *x)
{
	for (size_t i = 0; i < num * size; i++)
		x[i] *= factors[i / size];
}
