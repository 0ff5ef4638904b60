#include "scenarios/pattern.h"

#include "scenarios/element.h"

#define PERIOD 13

/* Ranks of a product that may hold a 2: the product is 128 at most. */
#define DOUBLING_RANKS (7 * PERIOD)

/* Element i of rank's input, for i below PERIOD. */
static double input_at(const struct pattern *p, int rank, int i)
{
	bool is_turn = (i + rank) % PERIOD == 0;

	if (p->collective == SWEEP_BROADCAST || p->op == DIST_MIN ||
	    p->op == DIST_MAX)
		return (i + rank) % PERIOD;
	if (p->op == DIST_PRODUCT)
		return is_turn && rank < DOUBLING_RANKS ? 2 : 1;
	return dist_dtype_size(p->dtype) < 4 ? is_turn : i + rank;
}

static double result_at(const struct pattern *p, int i)
{
	double value = input_at(p, 0, i);

	if (p->collective == SWEEP_BROADCAST)
		return input_at(p, p->root, i);
	for (int rank = 1; rank < p->world_size; rank++)
		value = element_combine(p->dtype, p->op, value,
					input_at(p, rank, i));
	return p->op == DIST_AVG
		       ? element_divide(p->dtype, value, p->world_size)
		       : value;
}

void pattern_fill(const struct pattern *p, void *data, size_t numel)
{
	size_t i;

	for (i = 0; i < numel; i++)
		element_store(p->dtype, data, i,
			      input_at(p, p->rank, (int)(i % PERIOD)));
}

int64_t pattern_count_wrong(const struct pattern *p, const void *data,
			    size_t numel)
{
	double results[PERIOD];
	int64_t wrong = 0;
	size_t i;

	if (p->collective == SWEEP_REDUCE && p->rank != p->root)
		return 0;
	for (i = 0; i < PERIOD; i++)
		results[i] = result_at(p, (int)i);
	for (i = 0; i < numel; i++)
		wrong += element_load(p->dtype, data, i) != results[i % PERIOD];
	return wrong;
}
