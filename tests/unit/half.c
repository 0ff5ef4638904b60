/* float16 and bfloat16, every bit pattern, against the slow and plain way of
 * scenarios/element.c, which works in doubles and shares nothing with them. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/half.h"
#include "core/reduce.h"
#include "scenarios/element.h"

enum { PATTERNS = 65536 };

static const enum dist_dtype halves[] = {DIST_FLOAT16, DIST_BFLOAT16};

/* Compared one by one, reported once: there are many. */
struct tally {
	unsigned wrong;
	double operand, other; /* of the first one that is wrong */
	unsigned got, want;
};

static void compare(struct tally *tally, unsigned got, unsigned want,
		    double operand, double other)
{
	if (got == want || tally->wrong++ > 0)
		return;
	tally->got = got;
	tally->want = want;
	tally->operand = operand;
	tally->other = other;
}

static void assert_none(const struct tally *tally, const char *what)
{
	cr_assert_eq(tally->wrong, 0,
		     "%s: %u wrong, the first with %a, %a: %#x is not %#x",
		     what, tally->wrong, tally->operand, tally->other,
		     tally->got, tally->want);
}

static float to_float(enum dist_dtype dtype, uint16_t bits)
{
	return dtype == DIST_FLOAT16 ? dist__float16_to_float(bits)
				     : dist__bfloat16_to_float(bits);
}

static uint16_t from_float(enum dist_dtype dtype, float value)
{
	return dtype == DIST_FLOAT16 ? dist__float16_from_float(value)
				     : dist__bfloat16_from_float(value);
}

static uint16_t encoded(enum dist_dtype dtype, double value)
{
	uint16_t bits;

	element_store(dtype, &bits, 0, value);
	return bits;
}

/* The reference itself, by numbers that anyone can look up. */
Test(half, known_values)
{
	static const struct {
		enum dist_dtype dtype;
		float value;
		uint16_t bits;
	} known[] = {
		{DIST_FLOAT16, 1, 0x3c00},
		{DIST_FLOAT16, -2, 0xc000},
		{DIST_FLOAT16, -0.0F, 0x8000},
		{DIST_FLOAT16, 65504, 0x7bff},
		{DIST_FLOAT16, 65519.996F, 0x7bff},
		{DIST_FLOAT16, 65520, 0x7c00},
		{DIST_FLOAT16, -INFINITY, 0xfc00},
		{DIST_FLOAT16, -NAN, 0x7e00},
		{DIST_FLOAT16, 0x1p-14F, 0x0400},
		{DIST_FLOAT16, 0x1p-24F, 0x0001},
		{DIST_FLOAT16, 0x1p-25F, 0x0000},
		{DIST_FLOAT16, 0x1.8p-25F, 0x0001},
		{DIST_FLOAT16, 0x3p-25F, 0x0002},
		{DIST_FLOAT16, 2049, 0x6800},
		{DIST_FLOAT16, 2051, 0x6802},
		{DIST_BFLOAT16, 1, 0x3f80},
		{DIST_BFLOAT16, 3.14159265F, 0x4049},
		{DIST_BFLOAT16, 257, 0x4380},
		{DIST_BFLOAT16, 259, 0x4382},
		{DIST_BFLOAT16, 0x1.fffffep127F, 0x7f80},
		{DIST_BFLOAT16, 0x1.fep127F, 0x7f7f},
		{DIST_BFLOAT16, 0x1p-133F, 0x0001},
		{DIST_BFLOAT16, 0x1p-149F, 0x0000},
		{DIST_BFLOAT16, -INFINITY, 0xff80},
		{DIST_BFLOAT16, -NAN, 0x7fc0},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		cr_expect_eq(from_float(known[i].dtype, known[i].value),
			     known[i].bits, "%a", (double)known[i].value);
		cr_expect_eq(encoded(known[i].dtype, (double)known[i].value),
			     known[i].bits, "%a", (double)known[i].value);
	}
}

Test(half, every_pattern_has_its_value)
{
	for (int h = 0; h < 2; h++) {
		struct tally tally = {0};

		for (unsigned bits = 0; bits < PATTERNS; bits++) {
			uint16_t half = (uint16_t)bits;
			float got = to_float(halves[h], half);
			double want = element_load(halves[h], &half, 0);
			bool same = isnan(want)
					    ? isnan(got)
					    : (double)got == want &&
						      !signbit(got) ==
							      !signbit(want);

			compare(&tally, same, true, (double)got, want);
			compare(&tally, from_float(halves[h], got),
				isnan(want) ? encoded(halves[h], NAN) : half,
				(double)got, want);
		}
		assert_none(&tally, dist_dtype_name(halves[h]));
	}
}

/* One float, its neighbours, and all of them with the other sign. */
static void round_near(struct tally *tally, enum dist_dtype dtype, float value)
{
	float near[3] = {nextafterf(value, -INFINITY), value,
			 nextafterf(value, INFINITY)};

	for (int i = 0; i < 3; i++) {
		compare(tally, from_float(dtype, near[i]),
			encoded(dtype, (double)near[i]), (double)near[i], 0);
		compare(tally, from_float(dtype, -near[i]),
			encoded(dtype, -(double)near[i]), -(double)near[i], 0);
	}
}

/* Rounding changes at the values and halfway between them. */
Test(half, floats_round_to_the_nearest_even)
{
	for (int h = 0; h < 2; h++) {
		unsigned infinity = encoded(halves[h], INFINITY);
		struct tally tally = {0};

		for (unsigned bits = 0; bits < infinity; bits++) {
			double low =
				(double)to_float(halves[h], (uint16_t)bits);
			double next = (double)to_float(halves[h],
						       (uint16_t)(bits + 1));

			round_near(&tally, halves[h], (float)low);
			if (isfinite(next))
				round_near(&tally, halves[h],
					   (float)((low + next) / 2));
		}
		round_near(&tally, halves[h], 65520);
		round_near(&tally, halves[h], INFINITY);
		assert_none(&tally, dist_dtype_name(halves[h]));
	}
}

Test(half, any_float_rounds)
{
	for (int h = 0; h < 2; h++) {
		struct tally tally = {0};

		for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 4099) {
			float value = dist__float_of_bits((uint32_t)bits);

			compare(&tally, from_float(halves[h], value),
				encoded(halves[h], (double)value),
				(double)value, 0);
		}
		assert_none(&tally, dist_dtype_name(halves[h]));
	}
}

/* ---- the kernels ------------------------------------------------------ */

/* What a and b combine to; MIN and MAX give the bits of one of the two. */
static uint16_t combined(enum dist_dtype dtype, enum dist_reduce_op op,
			 uint16_t a, uint16_t b)
{
	double x = element_load(dtype, &a, 0), y = element_load(dtype, &b, 0);

	if (op == DIST_MIN)
		return y < x || isnan(y) ? b : a;
	if (op == DIST_MAX)
		return y > x || isnan(y) ? b : a;
	return encoded(dtype, element_combine(dtype, op, x, y));
}

/* Every pattern with one other operand. */
static void combine_all(enum dist_dtype dtype, enum dist_reduce_op op,
			uint16_t other)
{
	static uint16_t acc[PATTERNS], in[PATTERNS];
	struct tally tally = {0};

	for (unsigned bits = 0; bits < PATTERNS; bits++) {
		acc[bits] = (uint16_t)bits;
		in[bits] = other;
	}
	dist__reduce(dtype, op, acc, in, PATTERNS);
	for (unsigned bits = 0; bits < PATTERNS; bits++)
		compare(&tally, acc[bits],
			combined(dtype, op, (uint16_t)bits, other),
			(double)to_float(dtype, (uint16_t)bits),
			(double)to_float(dtype, other));
	assert_none(&tally, dist_reduce_op_name(op));
}

/* Zeros, subnormals, ones, the largest, infinities, NaNs, and what lies
 * between, as bits of either type. */
Test(half, every_pattern_combines)
{
	static const uint16_t others[] = {
		0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0x3f80,
		0xbf81, 0x4248, 0x7bff, 0x7f7f, 0x7c00, 0xff80, 0x7e01, 0xffff};
	static const enum dist_reduce_op ops[] = {
		DIST_SUM, DIST_AVG, DIST_PRODUCT, DIST_MIN, DIST_MAX};

	for (int h = 0; h < 2; h++)
		for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
			for (size_t i = 0; i < sizeof others / sizeof *others;
			     i++)
				combine_all(halves[h], ops[o], others[i]);
}

Test(half, every_pattern_is_divided)
{
	static const int divisors[] = {1, 2, 3, 7, 16, 1000, 1 << 24};
	static uint16_t data[PATTERNS];

	for (int h = 0; h < 2; h++)
		for (int d = 0; d < 7; d++) {
			struct tally tally = {0};

			for (unsigned bits = 0; bits < PATTERNS; bits++)
				data[bits] = (uint16_t)bits;
			dist__divide(halves[h], data, PATTERNS, divisors[d]);
			for (unsigned bits = 0; bits < PATTERNS; bits++) {
				uint16_t half = (uint16_t)bits;
				double value =
					element_load(halves[h], &half, 0);

				compare(&tally, data[bits],
					encoded(halves[h],
						element_divide(halves[h], value,
							       divisors[d])),
					value, divisors[d]);
			}
			assert_none(&tally, "divided");
		}
}
