/* values.c - what goes into a case and what must come out. */
#include "tests/conformance/cases/case.h"
#include "scenarios/element.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* Of so many ranks in a row, 7 put a 2 into a product. */
#define TURN 32

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

double case_value(const struct one_case *c, int src, int dst, size_t i)
{
	size_t place = (size_t)src + (size_t)dst + i + c->index;
	uint64_t seed =
		dist__random_of(c->index * UINT64_C(1000003) +
				(uint64_t)dst * 20021 + i * 31 + (uint64_t)src);
	double value = (double)(seed % 15) - 7;

	if (!c->exact)
		value = ((double)(seed >> 11) / 9007199254740992.0 - 0.5) * 1e3;
	else if (c->dtype == DIST_BOOL || is_bitwise(c->op))
		value = bits(seed, c->dtype, c->op);
	else if (c->op == DIST_PRODUCT)
		value = place % TURN < 7 ? 2 : (double)(seed % 2) * 2 - 1;
	/* A double would not hold what they wrap around to. */
	if (c->dtype == DIST_UINT32 || c->dtype == DIST_UINT64)
		value = fabs(value);
	/* Every type with a sign holds whole numbers as small. */
	if (value >= -7 && value <= 7 && value == (double)(int)value &&
	    c->dtype != DIST_UINT8 && c->dtype != DIST_BOOL &&
	    c->dtype != DIST_UINT16)
		return value;
	return element_round(c->dtype, value);
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

double case_reduced(const struct one_case *c, int contributors, int dst,
		    size_t i)
{
	double value = contribution(c, 0, dst, i);

	for (int src = 1; src < contributors; src++)
		value = element_combine(c->dtype, c->op, value,
					contribution(c, src, dst, i));
	return c->op == DIST_AVG ? element_divide(c->dtype, value, contributors)
				 : value;
}
