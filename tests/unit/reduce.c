/* The local kernels: values, wrapping, NaN, division; names and sizes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

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
}

Test(reduce, int64)
{
	CHECK_ALL(int64_t, DIST_INT64);
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

	dist__reduce(DIST_INT32, DIST_SUM, a, b, 2);
	cr_assert_eq(a[0], INT32_MIN);
	cr_assert_eq(a[1], INT32_MAX);
	dist__reduce(DIST_INT64, DIST_PRODUCT, c, d, 2);
	cr_assert_eq(c[0], INT64_MAX - 2);
	cr_assert_eq(c[1], INT64_MIN);
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
	cr_assert_eq(dist_dtype_size(DIST_FLOAT32), 4);
	cr_assert_eq(dist_dtype_size(DIST_FLOAT64), 8);
	cr_assert_eq(dist_dtype_size(DIST_INT32), 4);
	cr_assert_eq(dist_dtype_size(DIST_INT64), 8);
	cr_assert_str_eq(dist_dtype_name(DIST_FLOAT32), "float32");
	cr_assert_str_eq(dist_dtype_name(DIST_INT64), "int64");
	cr_assert_str_eq(dist_reduce_op_name(DIST_SUM), "sum");
	cr_assert_str_eq(dist_reduce_op_name(DIST_MAX), "max");
}

Test(reduce, unknown_numbers_have_none)
{
	cr_assert_eq(dist_dtype_size((enum dist_dtype)99), 0);
	cr_assert_str_eq(dist_dtype_name((enum dist_dtype)99), "?");
	cr_assert_str_eq(dist_reduce_op_name((enum dist_reduce_op)99), "?");
}
