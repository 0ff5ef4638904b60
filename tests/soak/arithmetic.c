/* What the ranks put into an all-reduce, and what must come out. The numbers
 * are small, so that no type rounds and the order of combining is all one. */
#include "scenarios/element.h"
#include "tests/soak/soak.h"
#include "base/random.h"

/* Elements repeat after so many: a prime, so that no cut of the tensor into
 * equal parts looks like another. */
#define PERIOD 61

/* Element i of rank: -2 to 3; of a product 1, 2 or -1. */
static double element_of(const struct soak_call *call, int rank, size_t i)
{
	static const double factors[] = {1, 2, -1};
	uint64_t state = call->seed + (uint64_t)rank * PERIOD + i;
	uint64_t lot = dist__random_next(&state);
	double value = call->op == DIST_PRODUCT ? factors[lot % 3]
						: (double)(lot % 6) - 2;

	return element_round(call->dtype, value);
}

double soak_factor(const struct soak_call *call, int rank)
{
	static const double factors[] = {0.5, 1, 2};

	return factors[(call->seed + (uint64_t)rank) % 3];
}

void soak_fill(const struct soak_call *call, int rank, void *data)
{
	double once[PERIOD];

	for (size_t i = 0; i < PERIOD; i++)
		once[i] = element_of(call, rank, i);
	for (size_t i = 0; i < call->numel; i++)
		element_store(call->dtype, data, i, once[i % PERIOD]);
}

static double contribution(const struct soak_call *call, int rank, size_t i)
{
	double value = element_of(call, rank, i);

	return call->op == DIST_PREMUL_SUM
		       ? element_scale(call->dtype, value,
				       soak_factor(call, rank))
		       : value;
}

static double result_of(const struct soak_call *call, int world_size, size_t i)
{
	double value = contribution(call, 0, i);

	for (int rank = 1; rank < world_size; rank++)
		value = element_combine(call->dtype, call->op, value,
					contribution(call, rank, i));
	return call->op == DIST_AVG
		       ? element_divide(call->dtype, value, world_size)
		       : value;
}

size_t soak_first_wrong(const struct soak_call *call, int world_size,
			const void *data)
{
	double once[PERIOD];
	size_t i;

	for (i = 0; i < PERIOD; i++)
		once[i] = result_of(call, world_size, i);
	for (i = 0; i < call->numel; i++)
		if (element_load(call->dtype, data, i) != once[i % PERIOD])
			break;
	return i;
}
