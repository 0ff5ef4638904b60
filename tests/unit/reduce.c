/* The local kernels: values, wrapping, NaN, division; names and sizes. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/reduce.h"

enum { NUMEL = 103 }; /* leaves a tail behind any vector width */

#define SAME(got, want)                                                        \
	cr_assert_eq((got), (want), "%g is not %g", (double)(got),             \
		     (double)(want))

/* Reduces two arrays that start one element off an aligned place, and compares
 * with the expression, element by element. */
#define CHECK(type, dtype, op, expression)                                     \
	do {                                                                   \
		type acc[NUMEL + 2], in[NUMEL + 2];                            \
                                                                               \
		for (int i = 0; i < NUMEL + 2; i++) {                          \
			acc[i] = (type)(i % 13 - 6);                           \
			in[i] = (type)(i % 7 - 3);                             \
		}                                                              \
		dist__reduce(dtype, op, acc + 1, in + 1, NUMEL);               \
		for (int i = 1; i <= NUMEL; i++) {                             \
			type a = (type)(i % 13 - 6), b = (type)(i % 7 - 3);    \
                                                                               \
			SAME(acc[i], (type)(expression));                      \
		}                                                              \
		SAME(acc[0], (type)-6);                                        \
		SAME(acc[NUMEL + 1], (type)((NUMEL + 1) % 13 - 6));            \
	} while (0)

#define CHECK_ALL(type, dtype)                                                 \
	do {                                                                   \
		CHECK(type, dtype, DIST_SUM, a + b);                           \
		CHECK(type, dtype, DIST_AVG, a + b);                           \
		CHECK(type, dtype, DIST_PRODUCT, a *b);                        \
		CHECK(type, dtype, DIST_MIN, a < b ? a : b);                   \
		CHECK(type, dtype, DIST_MAX, a > b ? a : b);                   \
	} while (0)

#define CHECK_BITS(type, dtype)                                                \
	do {                                                                   \
		CHECK(type, dtype, DIST_BAND, a &b);                           \
		CHECK(type, dtype, DIST_BOR, a | b);                           \
		CHECK(type, dtype, DIST_BXOR, a ^ b);                          \
	} while (0)

Test(reduce, float32)
{
	CHECK_ALL(float, DIST_FLOAT32);
}

Test(reduce, float64)
{
	CHECK_ALL(double, DIST_FLOAT64);
}

Test(reduce, int32)
{
	CHECK_ALL(int32_t, DIST_INT32);
	CHECK_BITS(int32_t, DIST_INT32);
}

Test(reduce, int64)
{
	CHECK_ALL(int64_t, DIST_INT64);
	CHECK_BITS(int64_t, DIST_INT64);
}

Test(reduce, int8)
{
	CHECK_ALL(int8_t, DIST_INT8);
	CHECK_BITS(int8_t, DIST_INT8);
}

Test(reduce, uint8)
{
	CHECK_ALL(uint8_t, DIST_UINT8);
	CHECK_BITS(uint8_t, DIST_UINT8);
}

Test(reduce, other_lengths_of_integers)
{
	CHECK_ALL(int16_t, DIST_INT16);
	CHECK_BITS(int16_t, DIST_INT16);
	CHECK_ALL(uint16_t, DIST_UINT16);
	CHECK_BITS(uint16_t, DIST_UINT16);
	CHECK_ALL(uint32_t, DIST_UINT32);
	CHECK_BITS(uint32_t, DIST_UINT32);
	CHECK_ALL(uint64_t, DIST_UINT64);
	CHECK_BITS(uint64_t, DIST_UINT64);
}

/* Either part by itself, with the type's own rounding. */
Test(reduce, complex_numbers_are_pairs)
{
	float a[4] = {1, -2, 1e8F, 0.5F}, b[4] = {3, 4, 1, -0.25F};
	double c[4] = {1, -2, 1e17, 0.5}, d[4] = {3, 4, 1, -0.25};

	dist__reduce(DIST_COMPLEX64, DIST_SUM, a, b, 2);
	cr_expect(a[0] == 4 && a[1] == 2 && a[2] == 1e8F && a[3] == 0.25F);
	dist__reduce(DIST_COMPLEX128, DIST_AVG, c, d, 2);
	cr_expect(c[0] == 4 && c[1] == 2 && c[2] == 1e17 && c[3] == 0.25);
	dist__divide(DIST_COMPLEX64, a, 2, 4);
	cr_expect(a[0] == 1 && a[1] == 0.5F && a[3] == 0.0625F);
	dist__divide(DIST_COMPLEX128, c, 2, 4);
	cr_expect(c[0] == 1 && c[1] == 0.5 && c[3] == 0.0625);
	dist__scale(DIST_COMPLEX64, a, 1, 2);
	cr_expect(a[0] == 2 && a[1] == 1);
	dist__scale(DIST_COMPLEX128, c, 1, 2);
	cr_expect(c[0] == 2 && c[1] == 1);
}

/* What a and b combine to, as numbers; the low byte of it counts. */
static int byte_result(enum dist_dtype dtype, enum dist_reduce_op op, int a,
		       int b)
{
	static const enum dist_reduce_op truth[] = {
		[DIST_SUM] = DIST_BOR,   [DIST_PRODUCT] = DIST_BAND,
		[DIST_MIN] = DIST_BAND,  [DIST_MAX] = DIST_BOR,
		[DIST_BAND] = DIST_BAND, [DIST_BOR] = DIST_BOR,
		[DIST_BXOR] = DIST_BXOR};

	if (dtype == DIST_BOOL)
		return byte_result(DIST_UINT8, truth[op], a != 0, b != 0);
	switch (op) {
	case DIST_SUM:
	case DIST_AVG:
		return a + b;
	case DIST_PRODUCT:
		return a * b;
	case DIST_MIN:
		return a < b ? a : b;
	case DIST_MAX:
		return a > b ? a : b;
	case DIST_BAND:
		return a & b;
	case DIST_BOR:
		return a | b;
	case DIST_BXOR:
		return a ^ b;
	default:
		return -1;
	}
}

/* Every pair of bytes: wraps around, and a bool is 0 or 1 afterwards. */
static void check_bytes(enum dist_dtype dtype, enum dist_reduce_op op)
{
	static uint8_t acc[65536], in[65536];

	for (int i = 0; i < 65536; i++) {
		acc[i] = (uint8_t)i;
		in[i] = (uint8_t)(i >> 8);
	}
	dist__reduce(dtype, op, acc, in, 65536);
	for (int i = 0; i < 65536; i++) {
		int a = i & 255, b = i >> 8;

		if (dtype == DIST_INT8) {
			a -= a > INT8_MAX ? 256 : 0;
			b -= b > INT8_MAX ? 256 : 0;
		}
		if (acc[i] != (byte_result(dtype, op, a, b) & 255))
			cr_assert_fail("%s of %s: %d, %d give %d",
				       dist_reduce_op_name(op),
				       dist_dtype_name(dtype), a, b, acc[i]);
	}
}

Test(reduce, every_pair_of_bytes)
{
	static const enum dist_dtype bytes[] = {DIST_INT8, DIST_UINT8,
						DIST_BOOL};

	for (int d = 0; d < 3; d++)
		for (int op = 0; op < DIST_NUM_REDUCE_OPS; op++)
			if (dist__reduce_has(bytes[d], (enum dist_reduce_op)op))
				check_bytes(bytes[d], (enum dist_reduce_op)op);
}

Test(reduce, legal_pairs)
{
	for (int d = 0; d < DIST_NUM_DTYPES; d++)
		for (int o = 0; o < DIST_NUM_REDUCE_OPS; o++) {
			enum dist_dtype dtype = (enum dist_dtype)d;
			bool is_complex = dtype >= DIST_COMPLEX64;
			bool is_float = dtype <= DIST_FLOAT64, legal = true;

			if (dtype == DIST_FLOAT8_E4M3FN ||
			    dtype == DIST_FLOAT8_E5M2)
				legal = false;
			else if (is_complex)
				legal = o == DIST_SUM || o == DIST_AVG ||
					o == DIST_PREMUL_SUM;
			else if (o == DIST_AVG)
				legal = dtype != DIST_BOOL;
			else if (o == DIST_BAND || o == DIST_BOR ||
				 o == DIST_BXOR)
				legal = !is_float;
			else if (o == DIST_PREMUL_SUM)
				legal = is_float;
			cr_expect_eq(
				dist__reduce_has(dtype, (enum dist_reduce_op)o),
				legal, "%s of %s",
				dist_reduce_op_name((enum dist_reduce_op)o),
				dist_dtype_name(dtype));
		}
}

/* Factor and product are rounded to the dtype: 1/3 is 0.33325195 in float16,
 * 0.33398438 in bfloat16. */
Test(reduce, a_factor_is_rounded_to_the_type)
{
	uint16_t half = 0x4200, brain = 0x4040; /* 3 */
	float single = 3;
	double twice = 3;

	dist__scale(DIST_FLOAT16, &half, 1, 1.0 / 3);
	dist__scale(DIST_BFLOAT16, &brain, 1, 1.0 / 3);
	dist__scale(DIST_FLOAT32, &single, 1, 1.0 / 3);
	dist__scale(DIST_FLOAT64, &twice, 1, 1.0 / 3);
	cr_expect_eq(half, 0x3c00, "%#x", half);
	cr_expect_eq(brain, 0x3f80, "%#x", brain);
	cr_expect_eq(single, 3 * (float)(1.0 / 3));
	cr_expect_eq(twice, 3 * (1.0 / 3));
}

Test(reduce, nothing_is_done_to_no_elements)
{
	dist__reduce(DIST_FLOAT32, DIST_SUM, NULL, NULL, 0);
	dist__divide(DIST_INT64, NULL, 0, 3);
}

Test(reduce, integers_wrap)
{
	int32_t a[2] = {INT32_MAX, INT32_MIN}, b[2] = {1, -1};
	int64_t c[2] = {INT64_MAX, INT64_MIN}, d[2] = {3, -1};
	int16_t e[2] = {INT16_MAX, INT16_MIN}, f[2] = {3, -1};
	uint16_t g[1] = {UINT16_MAX}, h[1] = {UINT16_MAX};

	dist__reduce(DIST_INT32, DIST_SUM, a, b, 2);
	cr_assert_eq(a[0], INT32_MIN);
	cr_assert_eq(a[1], INT32_MAX);
	dist__reduce(DIST_INT64, DIST_PRODUCT, c, d, 2);
	cr_assert_eq(c[0], INT64_MAX - 2);
	cr_assert_eq(c[1], INT64_MIN);
	dist__reduce(DIST_INT16, DIST_PRODUCT, e, f, 2);
	cr_assert_eq(e[0], INT16_MAX - 2);
	cr_assert_eq(e[1], INT16_MIN);
	dist__reduce(DIST_UINT16, DIST_PRODUCT, g, h, 1);
	cr_assert_eq(g[0], 1);
}

/* Where the highest bit is no sign. */
Test(reduce, unsigned_numbers_are_ordered_and_divided_as_such)
{
	uint16_t a[2] = {UINT16_MAX, 1}, b[2] = {1, 0x8000};
	uint32_t c[2] = {UINT32_MAX, 1}, d[2] = {1, 0x80000000};
	uint64_t e[2] = {UINT64_MAX, 1}, f[2] = {1, UINT64_C(1) << 63};

	dist__reduce(DIST_UINT16, DIST_MAX, a, b, 2);
	dist__reduce(DIST_UINT32, DIST_MAX, c, d, 2);
	dist__reduce(DIST_UINT64, DIST_MAX, e, f, 2);
	cr_expect(a[0] == UINT16_MAX && a[1] == 0x8000);
	cr_expect(c[0] == UINT32_MAX && c[1] == 0x80000000);
	cr_expect(e[0] == UINT64_MAX && e[1] == UINT64_C(1) << 63);
	dist__divide(DIST_UINT16, a, 2, 2);
	dist__divide(DIST_UINT32, c, 2, 2);
	dist__divide(DIST_UINT64, e, 2, 2);
	cr_expect(a[0] == UINT16_MAX / 2 && a[1] == 0x4000);
	cr_expect(c[0] == UINT32_MAX / 2 && c[1] == 0x40000000);
	cr_expect(e[0] == UINT64_MAX / 2 && e[1] == UINT64_C(1) << 62);
}

/* On either side, at every place of a vector. */
static void check_nan(enum dist_reduce_op op)
{
	float a[NUMEL], b[NUMEL];
	double c[NUMEL], d[NUMEL];

	for (int i = 0; i < NUMEL; i++) {
		c[i] = a[i] = i % 3 == 0 ? NAN : 1;
		d[i] = b[i] = i % 3 == 1 ? NAN : 2;
	}
	dist__reduce(DIST_FLOAT32, op, a, b, NUMEL);
	dist__reduce(DIST_FLOAT64, op, c, d, NUMEL);
	for (int i = 0; i < NUMEL; i++) {
		cr_assert_eq(isnan(a[i]), i % 3 != 2, "%s at %d",
			     dist_reduce_op_name(op), i);
		cr_assert_eq(isnan(c[i]), i % 3 != 2, "%s at %d",
			     dist_reduce_op_name(op), i);
	}
}

Test(reduce, a_nan_comes_through)
{
	check_nan(DIST_SUM);
	check_nan(DIST_PRODUCT);
	check_nan(DIST_MIN);
	check_nan(DIST_MAX);
}

Test(reduce, infinities_are_ordered)
{
	double a[2] = {-INFINITY, INFINITY}, b[2] = {1, 1};

	dist__reduce(DIST_FLOAT64, DIST_MIN, a, b, 2);
	cr_assert_eq(a[0], -INFINITY);
	cr_assert_eq(a[1], 1);
}

Test(reduce, division_truncates_integers)
{
	int32_t a[] = {7, -7, 0, INT32_MIN};
	int64_t b[] = {7, -7, INT64_MAX, INT64_MIN};

	dist__divide(DIST_INT32, a, 4, 2);
	dist__divide(DIST_INT64, b, 4, 2);
	cr_assert_eq(a[0], 3);
	cr_assert_eq(a[1], -3);
	cr_assert_eq(a[2], 0);
	cr_assert_eq(a[3], INT32_MIN / 2);
	cr_assert_eq(b[0], 3);
	cr_assert_eq(b[1], -3);
	cr_assert_eq(b[2], INT64_MAX / 2);
	cr_assert_eq(b[3], INT64_MIN / 2);
}

/* Also by more ranks than the type can count. */
Test(reduce, division_truncates_bytes)
{
	int8_t a[] = {7, -7, -128, 127}, b[] = {7, -7, -128, 127};
	uint8_t c[] = {7, 255};

	dist__divide(DIST_INT8, a, 4, 2);
	cr_assert(a[0] == 3 && a[1] == -3 && a[2] == -64 && a[3] == 63);
	dist__divide(DIST_INT8, b, 4, 128);
	cr_assert(b[0] == 0 && b[1] == 0 && b[2] == -1 && b[3] == 0);
	dist__divide(DIST_UINT8, c, 2, 2);
	cr_assert(c[0] == 3 && c[1] == 127);
}

Test(reduce, division_rounds_floats_exactly)
{
	float a[NUMEL];
	double b[NUMEL];

	for (int i = 0; i < NUMEL; i++)
		b[i] = a[i] = (float)(i * i + 1);
	dist__divide(DIST_FLOAT32, a, NUMEL, 7);
	dist__divide(DIST_FLOAT64, b, NUMEL, 7);
	for (int i = 0; i < NUMEL; i++) {
		cr_assert_eq(a[i], (float)(i * i + 1) / 7.0F);
		cr_assert_eq(b[i], (double)(i * i + 1) / 7.0);
	}
}

Test(reduce, dtypes_have_names_and_sizes)
{
	static const struct {
		const char *name;
		size_t bytes;
	} dtypes[] = {
		{"float16", 2},   {"bfloat16", 2},      {"float32", 4},
		{"float64", 8},   {"int8", 1},          {"uint8", 1},
		{"int32", 4},     {"int64", 8},         {"bool", 1},
		{"int16", 2},     {"uint16", 2},        {"uint32", 4},
		{"uint64", 8},    {"float8_e4m3fn", 1}, {"float8_e5m2", 1},
		{"complex64", 8}, {"complex128", 16}};
	static const char *const ops[] = {"sum", "avg",  "product",
					  "min", "max",  "band",
					  "bor", "bxor", "premul_sum"};

	cr_assert_eq(sizeof dtypes / sizeof *dtypes, DIST_NUM_DTYPES);
	for (int i = 0; i < DIST_NUM_DTYPES; i++) {
		cr_expect_eq(dist_dtype_size((enum dist_dtype)i),
			     dtypes[i].bytes);
		cr_expect_str_eq(dist_dtype_name((enum dist_dtype)i),
				 dtypes[i].name);
	}
	cr_assert_eq(sizeof ops / sizeof *ops, DIST_NUM_REDUCE_OPS);
	for (int i = 0; i < DIST_NUM_REDUCE_OPS; i++)
		cr_expect_str_eq(dist_reduce_op_name((enum dist_reduce_op)i),
				 ops[i]);
}

Test(reduce, unknown_numbers_have_none)
{
	cr_assert_eq(dist_dtype_size((enum dist_dtype)99), 0);
	cr_assert_str_eq(dist_dtype_name((enum dist_dtype)99), "?");
	cr_assert_str_eq(dist_reduce_op_name((enum dist_reduce_op)99), "?");
}
