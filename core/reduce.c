/*
 * reduce.c - the kernels: plain loops that the compiler vectorizes. This file
 * is built with -O3, and without trapping floating-point exceptions, which
 * would keep branches in the loops of float16 and bfloat16.
 *
 * Integers are added and multiplied as unsigned numbers, where wrapping around
 * is defined; converting back keeps the bits. MIN and MAX take the second
 * operand if it is smaller (larger) or a NaN, else the first: a NaN on either
 * side is the result. The comparisons are joined by | instead of || to avoid a
 * branch in the loop. float16 and bfloat16 are compared as float32, and the
 * bits of the operand are kept.
 *
 * The result for operands (a, b) may differ from that for (b, a) in its bytes:
 * if both are NaN, or zeros of different sign, one of the two is taken. If two
 * ranks of an algorithm compute the same value, they must therefore use the
 * same order of operands.
 */
#include "core/reduce.h"

#include <assert.h>

#include "base/half.h"

#define F16(bits)  dist__float16_to_float(bits)
#define BF16(bits) dist__bfloat16_to_float(bits)

/*
 * Two copies of a kernel, the second for processors that have AVX2; which one
 * runs is chosen as the program is loaded. Both give the same bits: AVX2 brings
 * no fused multiplication, and none is asked for (ISO C mode). Sanitizers do
 * not bear code that runs before their own start.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) &&                           \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_UNIT __attribute__((target_clones("default", "avx2")))
#else
#define FOR_EACH_UNIT
#endif

/* Stamps out one kernel: x[i] = expression of a = x[i] and b = y[i].
 * NOLINTBEGIN(bugprone-macro-parentheses): a type takes none. */
#define KERNEL(name, type, expression)                                         \
	FOR_EACH_UNIT                                                          \
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

KERNEL(sum_float16, uint16_t, dist__float16_from_float(F16(a) + F16(b)))
KERNEL(sum_bfloat16, uint16_t, dist__bfloat16_from_float(BF16(a) + BF16(b)))
KERNEL(sum_float32, float, a + b)
KERNEL(sum_float64, double, a + b)
KERNEL(sum_int8, uint8_t, a + b)
KERNEL(sum_int16, uint16_t, a + b)
KERNEL(sum_int32, uint32_t, a + b)
KERNEL(sum_int64, uint64_t, a + b)

KERNEL(product_float16, uint16_t, dist__float16_from_float(F16(a) * F16(b)))
KERNEL(product_bfloat16, uint16_t, dist__bfloat16_from_float(BF16(a) * BF16(b)))
KERNEL(product_float32, float, (a * b))
KERNEL(product_float64, double, (a * b))
KERNEL(product_int8, uint8_t, (a * b))
KERNEL(product_int16, uint16_t, (uint16_t)((unsigned)a *b))
KERNEL(product_int32, uint32_t, (a * b))
KERNEL(product_int64, uint64_t, (a * b))

KERNEL(min_float16, uint16_t, (F16(b) < F16(a)) | (F16(b) != F16(b)) ? b : a)
KERNEL(min_bfloat16, uint16_t,
       (BF16(b) < BF16(a)) | (BF16(b) != BF16(b)) ? b : a)
KERNEL(min_float32, float, (b < a) | (b != b) ? b : a)
KERNEL(min_float64, double, (b < a) | (b != b) ? b : a)
KERNEL(min_int8, int8_t, b < a ? b : a)
KERNEL(min_uint8, uint8_t, b < a ? b : a)
KERNEL(min_int16, int16_t, b < a ? b : a)
KERNEL(min_uint16, uint16_t, b < a ? b : a)
KERNEL(min_int32, int32_t, b < a ? b : a)
KERNEL(min_uint32, uint32_t, b < a ? b : a)
KERNEL(min_int64, int64_t, b < a ? b : a)
KERNEL(min_uint64, uint64_t, b < a ? b : a)

KERNEL(max_float16, uint16_t, (F16(b) > F16(a)) | (F16(b) != F16(b)) ? b : a)
KERNEL(max_bfloat16, uint16_t,
       (BF16(b) > BF16(a)) | (BF16(b) != BF16(b)) ? b : a)
KERNEL(max_float32, float, (b > a) | (b != b) ? b : a)
KERNEL(max_float64, double, (b > a) | (b != b) ? b : a)
KERNEL(max_int8, int8_t, b > a ? b : a)
KERNEL(max_uint8, uint8_t, b > a ? b : a)
KERNEL(max_int16, int16_t, b > a ? b : a)
KERNEL(max_uint16, uint16_t, b > a ? b : a)
KERNEL(max_int32, int32_t, b > a ? b : a)
KERNEL(max_uint32, uint32_t, b > a ? b : a)
KERNEL(max_int64, int64_t, b > a ? b : a)
KERNEL(max_uint64, uint64_t, b > a ? b : a)

KERNEL(band_int8, uint8_t, (a & b))
KERNEL(band_int16, uint16_t, (a & b))
KERNEL(band_int32, uint32_t, (a & b))
KERNEL(band_int64, uint64_t, (a & b))

KERNEL(bor_int8, uint8_t, (a | b))
KERNEL(bor_int16, uint16_t, (a | b))
KERNEL(bor_int32, uint32_t, (a | b))
KERNEL(bor_int64, uint64_t, (a | b))

KERNEL(bxor_int8, uint8_t, (a ^ b))
KERNEL(bxor_int16, uint16_t, (a ^ b))
KERNEL(bxor_int32, uint32_t, (a ^ b))
KERNEL(bxor_int64, uint64_t, (a ^ b))

KERNEL(and_bool, uint8_t, (a != 0) & (b != 0))
KERNEL(or_bool, uint8_t, (a | b) != 0)
KERNEL(xor_bool, uint8_t, (a != 0) ^ (b != 0))

/* A complex number is a pair of floats, each summed by itself. */
static void sum_complex64(void *restrict acc, const void *restrict in,
			  size_t numel)
{
	sum_float32(acc, in, 2 * numel);
}

static void sum_complex128(void *restrict acc, const void *restrict in,
			   size_t numel)
{
	sum_float64(acc, in, 2 * numel);
}

/*
 * By reduce op, in the order of enum dist_reduce_op: AVG and PREMUL_SUM add. A
 * pair without a kernel is not legal. Unsigned types take the kernels of those
 * with a sign where the bits of the result do not depend on it.
 */
#define FLOAT(type)                                                            \
	{                                                                      \
		sum_##type, sum_##type, product_##type, min_##type,            \
			max_##type, [DIST_PREMUL_SUM] = sum_##type             \
	}
#define INTEGER(own, bits)                                                     \
	{                                                                      \
		sum_##bits, sum_##bits, product_##bits, min_##own, max_##own,  \
			band_##bits, bor_##bits, bxor_##bits                   \
	}
#define COMPLEX(type)                                                          \
	{                                                                      \
		sum_##type, sum_##type, [DIST_PREMUL_SUM] = sum_##type         \
	}

static void (*const kernels[][DIST_NUM_REDUCE_OPS])(void *restrict acc,
						    const void *restrict in,
						    size_t numel) = {
	[DIST_FLOAT16] = FLOAT(float16),
	[DIST_BFLOAT16] = FLOAT(bfloat16),
	[DIST_FLOAT32] = FLOAT(float32),
	[DIST_FLOAT64] = FLOAT(float64),
	[DIST_INT8] = INTEGER(int8, int8),
	[DIST_UINT8] = INTEGER(uint8, int8),
	[DIST_INT16] = INTEGER(int16, int16),
	[DIST_UINT16] = INTEGER(uint16, int16),
	[DIST_INT32] = INTEGER(int32, int32),
	[DIST_UINT32] = INTEGER(uint32, int32),
	[DIST_INT64] = INTEGER(int64, int64),
	[DIST_UINT64] = INTEGER(uint64, int64),
	[DIST_BOOL] = {or_bool, NULL, and_bool, and_bool, or_bool, and_bool,
		       or_bool, xor_bool},
	/* Eight bits are too few to add in: no op. */
	[DIST_FLOAT8_E4M3FN] = {NULL},
	[DIST_FLOAT8_E5M2] = {NULL},
	[DIST_COMPLEX64] = COMPLEX(complex64),
	[DIST_COMPLEX128] = COMPLEX(complex128),
};
_Static_assert(sizeof kernels / sizeof kernels[0] == DIST_NUM_DTYPES,
	       "a line for each dtype");
_Static_assert(DIST_SUM == 0 && DIST_AVG == 1 && DIST_PRODUCT == 2 &&
		       DIST_MIN == 3 && DIST_MAX == 4 && DIST_BAND == 5 &&
		       DIST_BOR == 6 && DIST_BXOR == 7 && DIST_PREMUL_SUM == 8,
	       "the order of the kernels");

bool dist__reduce_has(enum dist_dtype dtype, enum dist_reduce_op op)
{
	assert((size_t)dtype < DIST_NUM_DTYPES);
	assert((size_t)op < DIST_NUM_REDUCE_OPS);
	return kernels[dtype][op];
}

void dist__reduce(enum dist_dtype dtype, enum dist_reduce_op op, void *acc,
		  const void *in, size_t numel)
{
	assert(dist__reduce_has(dtype, op));
	kernels[dtype][op](acc, in, numel);
}

/* Stamps out one loop of a number: x[i] = expression of a = x[i] and by, which
 * is first a `wide`. */
#define SCALAR(name, type, wide, expression)                                   \
	FOR_EACH_UNIT                                                          \
	static void name(void *data, size_t numel, double number)              \
	{                                                                      \
		const wide by = (wide)number;                                  \
		type *x = data;                                                \
                                                                               \
		for (size_t i = 0; i < numel; i++) {                           \
			type a = x[i];                                         \
                                                                               \
			x[i] = (type)(expression);                             \
		}                                                              \
	}

/* NOLINTEND(bugprone-macro-parentheses) */

SCALAR(divide_float16, uint16_t, float, dist__float16_from_float(F16(a) / by))
SCALAR(divide_bfloat16, uint16_t, float,
       dist__bfloat16_from_float(BF16(a) / by))
SCALAR(divide_float32, float, float, a / by)
SCALAR(divide_float64, double, double, a / by)
SCALAR(divide_int8, int8_t, int32_t, a / by)
SCALAR(divide_uint8, uint8_t, int32_t, a / by)
SCALAR(divide_int16, int16_t, int32_t, a / by)
SCALAR(divide_uint16, uint16_t, int32_t, a / by)
SCALAR(divide_int32, int32_t, int32_t, a / by)
SCALAR(divide_uint32, uint32_t, uint32_t, a / by)
SCALAR(divide_int64, int64_t, int64_t, a / by)
SCALAR(divide_uint64, uint64_t, uint64_t, a / by)

SCALAR(scale_float16, uint16_t, float, dist__float16_from_float(F16(a) * by))
SCALAR(scale_bfloat16, uint16_t, float, dist__bfloat16_from_float(BF16(a) * by))
SCALAR(scale_float32, float, float, a *by)
SCALAR(scale_float64, double, double, a *by)

/* By dtype; a complex number is a pair of floats. */
static const struct {
	void (*divide)(void *data, size_t numel, double divisor);
	void (*scale)(void *data, size_t numel, double factor);
	size_t units;
} scalars[] = {
	[DIST_FLOAT16] = {divide_float16, scale_float16, 1},
	[DIST_BFLOAT16] = {divide_bfloat16, scale_bfloat16, 1},
	[DIST_FLOAT32] = {divide_float32, scale_float32, 1},
	[DIST_FLOAT64] = {divide_float64, scale_float64, 1},
	[DIST_INT8] = {divide_int8, NULL, 1},
	[DIST_UINT8] = {divide_uint8, NULL, 1},
	[DIST_INT16] = {divide_int16, NULL, 1},
	[DIST_UINT16] = {divide_uint16, NULL, 1},
	[DIST_INT32] = {divide_int32, NULL, 1},
	[DIST_UINT32] = {divide_uint32, NULL, 1},
	[DIST_INT64] = {divide_int64, NULL, 1},
	[DIST_UINT64] = {divide_uint64, NULL, 1},
	[DIST_COMPLEX64] = {divide_float32, scale_float32, 2},
	[DIST_COMPLEX128] = {divide_float64, scale_float64, 2},
};

void dist__divide(enum dist_dtype dtype, void *data, size_t numel, int divisor)
{
	/* A float holds every integer up to 2^24, more ranks than any job. */
	assert(divisor > 0 && divisor <= 1 << 24);
	assert(scalars[dtype].divide);
	scalars[dtype].divide(data, scalars[dtype].units * numel, divisor);
}

void dist__scale(enum dist_dtype dtype, void *data, size_t numel, double factor)
{
	assert(scalars[dtype].scale);
	if (dtype == DIST_FLOAT16)
		factor = F16(dist__float16_from_float((float)factor));
	if (dtype == DIST_BFLOAT16)
		factor = BF16(dist__bfloat16_from_float((float)factor));
	scalars[dtype].scale(data, scalars[dtype].units * numel, factor);
}
