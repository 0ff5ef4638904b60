#include "scenarios/fill.h"

/* A prime that no bucket or chunk size is a multiple of by accident: values
 * put into a wrong place are then wrong values. */
#define PERIOD 61

void fill_parameters(float *values, size_t numel, int rank)
{
	size_t i;

	for (i = 0; i < numel; i++)
		values[i] = rank == 0 ? (float)(i % PERIOD) : -1.0F;
}

double count_wrong_parameters(const float *values, size_t numel)
{
	double wrong = 0;
	size_t i;

	for (i = 0; i < numel; i++)
		wrong += values[i] != (float)(i % PERIOD);
	return wrong;
}

void fill_gradients(float *values, size_t numel, size_t first, int rank,
		    int step)
{
	size_t i;

	for (i = 0; i < numel; i++)
		values[i] = (float)((first + i + (size_t)step) % PERIOD) +
			    (float)rank;
}

double count_wrong_gradients(const float *values, size_t numel, size_t first,
			     int world_size, int step)
{
	float middle = (float)(world_size - 1) / 2;
	double wrong = 0;
	size_t i;

	for (i = 0; i < numel; i++)
		wrong += values[i] !=
			 (float)((first + i + (size_t)step) % PERIOD) + middle;
	return wrong;
}
