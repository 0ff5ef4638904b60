#include "base/statistics.h"

#include <assert.h>
#include <stdlib.h>

#include "base/text.h"

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void dist__sort_numbers(double *numbers, size_t n)
{
	if (n > 1)
		qsort(numbers, n, sizeof *numbers, by_size);
}

static int by_whole(const void *a, const void *b)
{
	return dist__by_number(*(const int *)a, *(const int *)b);
}

void dist__sort_whole(int *numbers, size_t n)
{
	if (n > 1)
		qsort(numbers, n, sizeof *numbers, by_whole);
}

double dist__quantile(const double *numbers, size_t n, double q)
{
	double place = q * (double)(n - 1);
	size_t below = (size_t)place;

	assert(n > 0 && q >= 0 && q <= 1);
	if (below + 1 >= n)
		return numbers[n - 1];
	/* Spelled so that equal or infinite neighbours stay what they are. */
	if (place == (double)below || numbers[below] == numbers[below + 1])
		return numbers[below];
	return numbers[below] +
	       (place - (double)below) * (numbers[below + 1] - numbers[below]);
}

struct dist__sample dist__sample_of(double *values, size_t num)
{
	dist__sort_numbers(values, num);
	return (struct dist__sample){
		.min = values[0],
		.max = values[num - 1],
		.median = dist__quantile(values, num, 0.5),
		.low_quartile = dist__quantile(values, num, 0.25),
		.high_quartile = dist__quantile(values, num, 0.75),
	};
}
