#include "scenarios/sample.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t num, double share)
{
	double at = share * (double)(num - 1);
	size_t below = (size_t)at;

	if (below + 1 >= num)
		return sorted[num - 1];
	return sorted[below] +
	       (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct sample sample_of(double *values, size_t num)
{
	struct sample s;

	qsort(values, num, sizeof(*values), by_value);
	s.min = values[0];
	s.max = values[num - 1];
	s.median = quantile(values, num, 0.5);
	s.low_quartile = quantile(values, num, 0.25);
	s.high_quartile = quantile(values, num, 0.75);
	return s;
}
