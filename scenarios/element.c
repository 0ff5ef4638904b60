#include "scenarios/element.h"

#include <math.h>
#include <string.h>

/* A float of two bytes: sign, exponent, fraction, as IEEE 754 lays them out. */
struct format {
	int fraction; /* bits of it */
	int bias;     /* of the exponent, of which all ones are infinity, NaN */
};

static const struct format float16 = {10, 15};
static const struct format bfloat16 = {7, 127};

/* A double by its bits: of 11 for the exponent, 52 for the fraction. */
static double of_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* 2 to the power of exponent, from -1022 to 1023. */
static double power_of_two(int exponent)
{
	return of_bits((uint64_t)(exponent + 1023) << 52);
}

/* The exponent that a finite value is written with; subnormals share one. */
static int exponent_of(const struct format *f, double value)
{
	uint64_t bits;
	int exponent;

	memcpy(&bits, &value, sizeof bits);
	exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	return exponent < 1 - f->bias ? 1 - f->bias : exponent;
}

static uint16_t encode(const struct format *f, double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	long infinity = (2L * f->bias + 1) << f->fraction, bits = infinity;

	if (isnan(value))
		return (uint16_t)(infinity | 1L << (f->fraction - 1));
	if (!isinf(value)) {
		int exponent = exponent_of(f, value);
		double places = rint(fabs(value) *
				     power_of_two(f->fraction - exponent));

		/* The leading one adds one to the exponent. */
		if (exponent <= f->bias)
			bits = ((long)(exponent + f->bias - 1) << f->fraction) +
			       (long)places;
	}
	return (uint16_t)(sign | (bits < infinity ? bits : infinity));
}

static double decode(const struct format *f, uint16_t bits)
{
	int fraction = bits & ((1 << f->fraction) - 1);
	int exponent = (bits & 0x7fff) >> f->fraction;
	double value;

	if (exponent == 2 * f->bias + 1)
		value = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		value = fraction * power_of_two(1 - f->bias - f->fraction);
	else
		value = (fraction + (1 << f->fraction)) *
			power_of_two(exponent - f->bias - f->fraction);
	return bits & 0x8000 ? -value : value;
}

/* Of a real part and an imaginary one. */
static double load_pair(double real, double imaginary)
{
	return imaginary == -real ? real : NAN;
}

double element_load(enum dist_dtype dtype, const void *data, size_t i)
{
	switch (dtype) {
#define LOAD(name, type)                                                       \
	case name:                                                             \
		return (double)((const type *)data)[i];
		LOAD(DIST_FLOAT32, float)
		LOAD(DIST_FLOAT64, double)
		LOAD(DIST_INT8, int8_t)
		LOAD(DIST_UINT8, uint8_t)
		LOAD(DIST_INT16, int16_t)
		LOAD(DIST_UINT16, uint16_t)
		LOAD(DIST_INT32, int32_t)
		LOAD(DIST_UINT32, uint32_t)
		LOAD(DIST_INT64, int64_t)
		LOAD(DIST_UINT64, uint64_t)
		LOAD(DIST_FLOAT8_E4M3FN, int8_t)
		LOAD(DIST_FLOAT8_E5M2, int8_t)
		LOAD(DIST_BOOL, uint8_t)
	case DIST_FLOAT16:
		return decode(&float16, ((const uint16_t *)data)[i]);
	case DIST_BFLOAT16:
		return decode(&bfloat16, ((const uint16_t *)data)[i]);
	case DIST_COMPLEX64:
		return load_pair((double)((const float *)data)[2 * i],
				 (double)((const float *)data)[2 * i + 1]);
	case DIST_COMPLEX128:
		return load_pair(((const double *)data)[2 * i],
				 ((const double *)data)[2 * i + 1]);
	}
	return NAN;
}

void element_store(enum dist_dtype dtype, void *data, size_t i, double value)
{
	switch (dtype) {
#define STORE(name, type)                                                      \
	case name:                                                             \
		((type *)data)[i] = (type)value;                               \
		break;
#define STORE_WHOLE(name, type)                                                \
	case name:                                                             \
		((type *)data)[i] = (type)(int64_t)value;                      \
		break;
		STORE(DIST_FLOAT32, float)
		STORE(DIST_FLOAT64, double)
		STORE_WHOLE(DIST_INT8, int8_t)
		STORE_WHOLE(DIST_UINT8, uint8_t)
		STORE_WHOLE(DIST_INT16, int16_t)
		STORE_WHOLE(DIST_UINT16, uint16_t)
		STORE_WHOLE(DIST_INT32, int32_t)
		STORE_WHOLE(DIST_UINT32, uint32_t)
		STORE_WHOLE(DIST_INT64, int64_t)
		STORE_WHOLE(DIST_UINT64, uint64_t)
		STORE_WHOLE(DIST_FLOAT8_E4M3FN, int8_t)
		STORE_WHOLE(DIST_FLOAT8_E5M2, int8_t)
	case DIST_BOOL:
		((uint8_t *)data)[i] = value != 0;
		break;
	case DIST_FLOAT16:
		((uint16_t *)data)[i] = encode(&float16, value);
		break;
	case DIST_BFLOAT16:
		((uint16_t *)data)[i] = encode(&bfloat16, value);
		break;
	case DIST_COMPLEX64:
		((float *)data)[2 * i] = (float)value;
		((float *)data)[2 * i + 1] = -(float)value;
		break;
	case DIST_COMPLEX128:
		((double *)data)[2 * i] = value;
		((double *)data)[2 * i + 1] = -value;
		break;
	}
}

double element_round(enum dist_dtype dtype, double value)
{
	double room[2];

	/* Whole numbers that every type of floats holds: most of what tests
	 * compute with. */
	if ((dtype <= DIST_FLOAT64 || dtype >= DIST_COMPLEX64) &&
	    value >= -256 && value <= 256 && value == (double)(int)value)
		return value;
	element_store(dtype, room, 0, value);
	return element_load(dtype, room, 0);
}

/* float16 and bfloat16 are worked on in float32. */
static double round_result(enum dist_dtype dtype, double value)
{
	bool half = dtype == DIST_FLOAT16 || dtype == DIST_BFLOAT16;

	return element_round(dtype, half ? (double)(float)value : value);
}

double element_combine(enum dist_dtype dtype, enum dist_reduce_op op, double a,
		       double b)
{
	switch (op) {
	case DIST_SUM:
	case DIST_AVG:
	case DIST_PREMUL_SUM:
		return round_result(dtype, a + b);
	case DIST_PRODUCT:
		return round_result(dtype, a * b);
	case DIST_MIN:
		return b < a || isnan(b) ? b : a;
	case DIST_MAX:
		return b > a || isnan(b) ? b : a;
	case DIST_BAND:
		return element_round(dtype, (double)((int64_t)a & (int64_t)b));
	case DIST_BOR:
		return element_round(dtype, (double)((int64_t)a | (int64_t)b));
	case DIST_BXOR:
		return element_round(dtype, (double)((int64_t)a ^ (int64_t)b));
	case DIST_REDUCE_OP_LAST:
		break;
	}
	return NAN;
}

double element_scale(enum dist_dtype dtype, double value, double factor)
{
	return round_result(dtype, value * round_result(dtype, factor));
}

double element_divide(enum dist_dtype dtype, double value, int divisor)
{
	double quotient = value / divisor;

	return round_result(dtype, dtype >= DIST_INT8 && dtype <= DIST_UINT64
					   ? trunc(quotient)
					   : quotient);
}
