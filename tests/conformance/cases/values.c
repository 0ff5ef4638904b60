/* values.c - what goes into a case and what must come out. */
#include "tests/conformance/cases/case.h"
#include "scenarios/element.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* Of so many ranks in a row, 7 put a 2 into a product. */
#define TURN 32

/* How many whole numbers there are from -7 to 7. */
#define SMALL 15

/* As large as the largest type. */
struct pair {
	uint64_t half[2];
};

static bool is_bitwise(enum dist_reduce_op op)
{
	return op == DIST_BAND || op == DIST_BOR || op == DIST_BXOR;
}

bool case_is_legal(const struct one_case *c)
{
	if (!conformance_calls[c->call].reduces)
		return true;
	if (c->dtype == DIST_FLOAT8_E4M3FN || c->dtype == DIST_FLOAT8_E5M2)
		return false;
	if (c->op == DIST_PREMUL_SUM)
		return case_has_fractions(c->dtype);
	if (is_bitwise(c->op))
		return c->dtype >= DIST_INT8 && c->dtype <= DIST_UINT64;
	if (c->dtype >= DIST_COMPLEX64)
		return c->op == DIST_SUM || c->op == DIST_AVG;
	return c->op != DIST_AVG || c->dtype != DIST_BOOL;
}

bool case_has_fractions(enum dist_dtype dtype)
{
	return dtype <= DIST_FLOAT64 || dtype >= DIST_COMPLEX64;
}

bool case_is_supported(const struct one_case *c, const char *backend)
{
	bool lacks = is_bitwise(c->op) || c->dtype == DIST_INT16 ||
		     c->dtype == DIST_UINT16;

	return strcmp(backend, "nccl") != 0 ||
	       !(conformance_calls[c->call].reduces && lacks);
}

/* Bits for op, such that what many ranks make of them is neither all zeros nor
 * all ones. Of bool: 1 or 0. */
static double bits(uint64_t seed, enum dist_dtype dtype, enum dist_reduce_op op)
{
	uint64_t rare = seed & dist__random_of(seed);
	bool is_and = op == DIST_BAND || op == DIST_PRODUCT || op == DIST_MIN;

	rare &= dist__random_of(rare ^ seed);
	rare &= dist__random_of(rare + seed);
	if (op == DIST_BXOR)
		rare = seed;
	if (is_and)
		rare = ~rare;
	if (dtype == DIST_BOOL)
		return (double)(rare & 1);
	return (double)(int32_t)(rare & 0x7fffffff) - 0x40000000;
}

static uint64_t seed_of(const struct one_case *c, int src, int dst, size_t i)
{
	return dist__random_of(c->index * UINT64_C(1000003) +
			       (uint64_t)dst * 20021 + i * 31 + (uint64_t)src);
}

/* Most cases: whole numbers from -7 to 7. */
static bool is_small(const struct one_case *c)
{
	return c->exact && c->dtype != DIST_BOOL && !is_bitwise(c->op) &&
	       c->op != DIST_PRODUCT;
}

static double small(enum dist_dtype dtype, uint64_t seed)
{
	int value = (int)(seed % SMALL) - SMALL / 2;

	if (value >= 0)
		return value;
	switch (dtype) {
	case DIST_UINT8:
		return value + (1 << 8);
	case DIST_UINT16:
		return value + (1 << 16);
	/* A double would not hold what these wrap around to. */
	case DIST_UINT32:
	case DIST_UINT64:
		return -value;
	default:
		return value;
	}
}

/* What is not, before it is rounded to the type. */
static double large(const struct one_case *c, int src, int dst, size_t i,
		    uint64_t seed)
{
	size_t place = (size_t)src + (size_t)dst + i + c->index;
	double value;

	if (!c->exact)
		value = ((double)(seed >> 11) / 9007199254740992.0 - 0.5) * 1e3;
	else if (c->dtype == DIST_BOOL || is_bitwise(c->op))
		value = bits(seed, c->dtype, c->op);
	else
		value = place % TURN < 7 ? 2 : (double)(seed % 2) * 2 - 1;
	if (c->dtype == DIST_UINT32 || c->dtype == DIST_UINT64)
		value = fabs(value);
	return value;
}

double case_value(const struct one_case *c, int src, int dst, size_t i)
{
	uint64_t seed = seed_of(c, src, dst, i);

	if (is_small(c))
		return small(c->dtype, seed);
	return element_round(c->dtype, large(c, src, dst, i, seed));
}

/* Of numel elements as large as type, each one of those in stored. */
#define CHOOSE(type)                                                           \
	for (size_t i = 0; i < numel; i++)                                     \
	((type *)data)[i] =                                                    \
		((const type *)stored)[seed_of(c, src, dst, i) % SMALL]

void case_fill(const struct one_case *c, void *data, size_t numel, int src,
	       int dst)
{
	_Alignas(16) char stored[SMALL * sizeof(struct pair)];

	for (size_t i = 0; !is_small(c) && i < numel; i++)
		element_store(c->dtype, data, i,
			      large(c, src, dst, i, seed_of(c, src, dst, i)));
	if (!is_small(c))
		return;
	for (uint64_t seed = 0; seed < SMALL; seed++)
		element_store(c->dtype, stored, seed, small(c->dtype, seed));
	switch (dist_dtype_size(c->dtype)) {
	case 1:
		CHOOSE(uint8_t);
		break;
	case 2:
		CHOOSE(uint16_t);
		break;
	case 4:
		CHOOSE(uint32_t);
		break;
	case 8:
		CHOOSE(uint64_t);
		break;
	default:
		CHOOSE(struct pair);
	}
}

int case_contributors(const struct one_case *c, int world_size)
{
	return c->form == MULTIGPU ? 2 * world_size : world_size;
}

/* What src puts in. */
static double contribution(const struct one_case *c, int src, int dst, size_t i)
{
	double value = case_value(c, src, dst, i);

	return c->op == DIST_PREMUL_SUM ? element_scale(c->dtype, value, FACTOR)
					: value;
}

/* Where it is no matter when it is rounded: of whole numbers and halves that a
 * type of floats holds all, and of integers that wrap around. */
static double sum(const struct one_case *c, int contributors, int dst, size_t i)
{
	double value = 0;

	for (int src = 0; src < contributors; src++)
		value += small(c->dtype, seed_of(c, src, dst, i));
	if (c->op == DIST_PREMUL_SUM)
		value *= FACTOR;
	return element_round(c->dtype, value);
}

static double combination(const struct one_case *c, int contributors, int dst,
			  size_t i)
{
	double value = contribution(c, 0, dst, i);

	for (int src = 1; src < contributors; src++)
		value = element_combine(c->dtype, c->op, value,
					contribution(c, src, dst, i));
	return value;
}

double case_reduced(const struct one_case *c, int contributors, int dst,
		    size_t i)
{
	bool sums = c->op == DIST_SUM || c->op == DIST_AVG ||
		    c->op == DIST_PREMUL_SUM;
	double value = sums && is_small(c)
			       ? sum(c, contributors, dst, i)
			       : combination(c, contributors, dst, i);

	return c->op == DIST_AVG ? element_divide(c->dtype, value, contributors)
				 : value;
}
