#include "scenarios/pattern.h"

#include <math.h>

#define PERIOD 13

static double input_at(const struct pattern *p, int rank, size_t i)
{
	if (p->collective != SWEEP_BROADCAST && p->op == DIST_PRODUCT)
		return i % (size_t)p->world_size == (size_t)rank ? 2 : 1;
	return (double)(i % PERIOD) + rank;
}

static double result_at(const struct pattern *p, size_t i)
{
	double n = p->world_size, sum;

	if (p->collective == SWEEP_BROADCAST)
		return input_at(p, p->root, i);
	sum = n * (double)(i % PERIOD) + n * (n - 1) / 2;
	switch (p->op) {
	case DIST_SUM:
		return sum;
	case DIST_AVG:
		/* Integers lose the half, the rounding towards zero. */
		if (p->dtype == DIST_INT32 || p->dtype == DIST_INT64)
			return trunc(sum / n);
		return sum / n;
	case DIST_PRODUCT:
		return 2;
	case DIST_MIN:
		return input_at(p, 0, i);
	case DIST_MAX:
		return input_at(p, p->world_size - 1, i);
	}
	return 0;
}

static void store(enum dist_dtype dtype, void *data, size_t i, double value)
{
	switch (dtype) {
	case DIST_FLOAT32:
		((float *)data)[i] = (float)value;
		break;
	case DIST_FLOAT64:
		((double *)data)[i] = value;
		break;
	case DIST_INT32:
		((int32_t *)data)[i] = (int32_t)value;
		break;
	case DIST_INT64:
		((int64_t *)data)[i] = (int64_t)value;
		break;
	}
}

static double load(enum dist_dtype dtype, const void *data, size_t i)
{
	switch (dtype) {
	case DIST_FLOAT32:
		return ((const float *)data)[i];
	case DIST_FLOAT64:
		return ((const double *)data)[i];
	case DIST_INT32:
		return ((const int32_t *)data)[i];
	case DIST_INT64:
		return (double)((const int64_t *)data)[i];
	}
	return 0;
}

void pattern_fill(const struct pattern *p, void *data, size_t numel)
{
	size_t i;

	for (i = 0; i < numel; i++)
		store(p->dtype, data, i, input_at(p, p->rank, i));
}

int64_t pattern_count_wrong(const struct pattern *p, const void *data,
			    size_t numel)
{
	int64_t wrong = 0;
	size_t i;

	if (p->collective == SWEEP_REDUCE && p->rank != p->root)
		return 0;
	for (i = 0; i < numel; i++)
		wrong += load(p->dtype, data, i) != result_at(p, i);
	return wrong;
}
