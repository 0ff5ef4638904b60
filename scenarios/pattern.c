#include "scenarios/pattern.h"

#include "scenarios/element.h"

#define PERIOD 13

/* Ranks of a product that may hold a 2: the product is 128 at most. */
#define DOUBLING_RANKS (7 * PERIOD)

/* What rank has, for j below PERIOD. */
static double whole_number(const struct pattern *p, int rank, int j)
{
	bool is_turn = (j + rank) % PERIOD == 0;

	if (!p->reduces)
		return (j + rank) % PERIOD;
	switch (p->op) {
	case DIST_PRODUCT:
		return is_turn && rank < DOUBLING_RANKS ? 2 : 1;
	case DIST_SUM:
	case DIST_AVG:
		return dist_dtype_size(p->dtype) < 4 ? is_turn : j + rank;
	default:
		return (j + rank) % PERIOD;
	}
}

static double input_at(const struct pattern *p, int rank, int j)
{
	return element_round(p->dtype, whole_number(p, rank, j));
}

static double result_at(const struct pattern *p, int src, int j)
{
	double value = input_at(p, p->reduces ? 0 : src, j);

	if (!p->reduces)
		return value;
	for (int rank = 1; rank < p->world_size; rank++)
		value = element_combine(p->dtype, p->op, value,
					input_at(p, rank, j));
	return p->op == DIST_AVG
		       ? element_divide(p->dtype, value, p->world_size)
		       : value;
}

void pattern_fill(const struct pattern *p, struct dist_tensor tensor, int src,
		  int dst)
{
	for (size_t i = 0; i < tensor.numel; i++)
		element_store(
			p->dtype, tensor.data, i,
			input_at(p, src, (int)((i + (size_t)dst) % PERIOD)));
}

int64_t pattern_count_wrong(const struct pattern *p, struct dist_tensor tensor,
			    int src, int dst)
{
	double results[PERIOD];
	int64_t wrong = 0;

	for (int j = 0; j < PERIOD; j++)
		results[j] = result_at(p, src, j);
	for (size_t i = 0; i < tensor.numel; i++)
		wrong += element_load(p->dtype, tensor.data, i) !=
			 results[(i + (size_t)dst) % PERIOD];
	return wrong;
}
