#include "scenarios/fill.h"

#include <math.h>

/* A prime that no bucket or chunk size is a multiple of by accident: values
 * put into a wrong place are then wrong values. */
#define PERIOD 61

void fill_parameters(float *values, size_t numel, int rank)
{
	for (size_t i = 0; i < numel; i++)
		values[i] = rank == 0 ? (float)(i % PERIOD) : -1.0F;
}

double count_wrong_parameters(const float *values, size_t numel)
{
	double wrong = 0;

	for (size_t i = 0; i < numel; i++)
		wrong += values[i] != (float)(i % PERIOD);
	return wrong;
}

void fill_gradients(struct dist_tensor tensor, size_t first, int rank, int step)
{
	float *values = tensor.data;

	for (size_t i = 0; i < tensor.numel; i++)
		values[i] = (float)((first + i + (size_t)step) % PERIOD) +
			    (float)rank;
}

/* Counts what is not factor times what a rank of this number would have, or
 * more than allowance times that away from it. */
static double count_wrong(struct dist_tensor tensor, size_t from, double factor,
			  double rank, double allowance)
{
	const float *values = tensor.data;
	double wrong = 0;

	for (size_t i = 0; i < tensor.numel; i++) {
		double right = factor * ((double)((from + i) % PERIOD) + rank);

		wrong += !(fabs(values[i] - right) <= allowance * right);
	}
	return wrong;
}

double count_wrong_sums(struct dist_tensor tensor, size_t first, int world_size,
			int step)
{
	return count_wrong(tensor, first + (size_t)step, world_size,
			   (world_size - 1) / 2.0, 0);
}

double count_wrong_gradients(struct dist_tensor tensor, size_t first,
			     int world_size, int step, double allowance)
{
	return count_wrong(tensor, first + (size_t)step, 1,
			   (world_size - 1) / 2.0, allowance);
}
