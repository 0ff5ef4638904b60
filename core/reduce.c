/*
 * reduce.c - the kernels: plain loops that the compiler turns into vector
 * instructions (this file is built with -O3 for that).
 *
 * Integers add and multiply as unsigned numbers, where wrapping around is
 * defined; converting back keeps the bits. MIN and MAX take the second operand
 * when it is smaller (larger) or a NaN, else the first: a NaN on either side
 * comes through. The comparisons are joined by | instead of || so that there
 * is no branch in the loop.
 *
 * The result for operands (a, b) need not have the bytes of that for (b, a):
 * when both are NaN, or zeros of different sign, one of the two is taken. An
 * algorithm in which two ranks compute the same value must therefore give both
 * the operands in the same order.
 */
#include "core/reduce.h"

#include <assert.h>

/* Stamps out one kernel: x[i] = expression of a = x[i] and b = y[i].
 * NOLINTBEGIN(bugprone-macro-parentheses): a type takes none. */
#define KERNEL(name, type, expression)                                         \
	static void name(void *restrict acc, const void *restrict in,          \
			 size_t numel)                                         \
	{                                                                      \
		type *restrict x = acc;                                        \
		const type *restrict y = in;                                   \
                                                                               \
		for (size_t i = 0; i < numel; i++) {                           \
			type a = x[i], b = y[i];                               \
                                                                               \
			x[i] = (expression);                                   \
		}                                                              \
	}

KERNEL(sum_float32, float, a + b)
KERNEL(sum_float64, double, a + b)
KERNEL(sum_int32, uint32_t, a + b)
KERNEL(sum_int64, uint64_t, a + b)

KERNEL(product_float32, float, (a * b))
KERNEL(product_float64, double, (a * b))
KERNEL(product_int32, uint32_t, (a * b))
KERNEL(product_int64, uint64_t, (a * b))

KERNEL(min_float32, float, (b < a) | (b != b) ? b : a)
KERNEL(min_float64, double, (b < a) | (b != b) ? b : a)
KERNEL(min_int32, int32_t, b < a ? b : a)
KERNEL(min_int64, int64_t, b < a ? b : a)

KERNEL(max_float32, float, (b > a) | (b != b) ? b : a)
KERNEL(max_float64, double, (b > a) | (b != b) ? b : a)
KERNEL(max_int32, int32_t, b > a ? b : a)
KERNEL(max_int64, int64_t, b > a ? b : a)

/* By reduce op, in the order of enum dist_reduce_op: AVG adds. */
static void (*const kernels[][DIST_MAX + 1])(void *restrict acc,
					     const void *restrict in,
					     size_t numel) = {
	[DIST_FLOAT32] = {sum_float32, sum_float32, product_float32,
			  min_float32, max_float32},
	[DIST_FLOAT64] = {sum_float64, sum_float64, product_float64,
			  min_float64, max_float64},
	[DIST_INT32] = {sum_int32, sum_int32, product_int32, min_int32,
			max_int32},
	[DIST_INT64] = {sum_int64, sum_int64, product_int64, min_int64,
			max_int64},
};
_Static_assert(DIST_SUM == 0 && DIST_AVG == 1 && DIST_PRODUCT == 2 &&
		       DIST_MIN == 3 && DIST_MAX == 4,
	       "the order of the kernels");

void dist__reduce(enum dist_dtype dtype, enum dist_reduce_op op, void *acc,
		  const void *in, size_t numel)
{
	assert((size_t)dtype < sizeof kernels / sizeof kernels[0]);
	assert((size_t)op <= DIST_MAX);
	kernels[dtype][op](acc, in, numel);
}

/* Stamps out one division: x[i] = x[i] / divisor in its own type. */
#define DIVISION(name, type)                                                   \
	static void name(void *data, size_t numel, type divisor)               \
	{                                                                      \
		type *x = data;                                                \
                                                                               \
		for (size_t i = 0; i < numel; i++)                             \
			x[i] /= divisor;                                       \
	}

/* NOLINTEND(bugprone-macro-parentheses) */

DIVISION(divide_float32, float)
DIVISION(divide_float64, double)
DIVISION(divide_int32, int32_t)
DIVISION(divide_int64, int64_t)

void dist__divide(enum dist_dtype dtype, void *data, size_t numel, int divisor)
{
	/* A float holds every integer up to 2^24, more ranks than any job. */
	assert(divisor > 0 && divisor <= 1 << 24);
	switch (dtype) {
	case DIST_FLOAT32:
		divide_float32(data, numel, (float)divisor);
		break;
	case DIST_FLOAT64:
		divide_float64(data, numel, divisor);
		break;
	case DIST_INT32:
		divide_int32(data, numel, divisor);
		break;
	case DIST_INT64:
		divide_int64(data, numel, divisor);
		break;
	}
}
