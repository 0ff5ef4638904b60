/*
 * half.h - float16 and bfloat16 by bit arithmetic, the same on every machine.
 *
 * There are no branches, so the compiler can vectorize loops. Rounding is to
 * nearest, ties to even. Every NaN becomes the quiet NaN without sign or
 * payload, because processors differ in the NaN that arithmetic gives.
 * Subnormals are computed from normal float32 numbers, so a processor that
 * flushes float32 subnormals to zero does not matter.
 */
#ifndef LOCKSTEP_BASE_HALF_H
#define LOCKSTEP_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t dist__float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline float dist__float_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* dist__float16_to_float returns the value of a float16, exactly. */
static inline float dist__float16_to_float(uint16_t half)
{
	const uint32_t smallest_normal = UINT32_C(113) << 23; /* 2^-14 */
	uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	/* Exponents count from -15 there, from -127 here; 31 becomes 255. */
	uint32_t normal = magnitude + (UINT32_C(112) << 23);
	uint32_t special = magnitude + (UINT32_C(224) << 23);
	/* The fraction beyond 2^-14, which is then subtracted. */
	uint32_t subnormal = dist__float_bits(
		dist__float_of_bits(smallest_normal + magnitude) -
		dist__float_of_bits(smallest_normal));
	uint32_t bits = (half & 0x7c00) == 0x7c00 ? special : normal;

	bits = (half & 0x7c00) == 0 ? subnormal : bits;
	return dist__float_of_bits(bits | sign);
}

/* dist__float16_from_float returns the float16 nearest to value. */
static inline uint16_t dist__float16_from_float(float value)
{
	/* Magnitudes are below 2^31: signed numbers compare faster. */
	int32_t magnitude = (int32_t)(dist__float_bits(value) & 0x7fffffff);
	uint32_t sign = dist__float_bits(value) >> 16 & 0x8000;
	/* Drops 13 bits: rounds half to even. A carry correctly
	 * increments the exponent, up to infinity. */
	int32_t normal =
		(magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
	/* 0.5 has the last place of a float16 subnormal: the sum rounds. */
	int32_t subnormal =
		(int32_t)(dist__float_bits(
				  dist__float_of_bits((uint32_t)magnitude) +
				  0.5F) -
			  dist__float_bits(0.5F));
	int32_t bits = normal > 0x7c00 ? 0x7c00 : normal;

	bits = magnitude < 113 << 23 ? subnormal : bits;
	bits |= (int32_t)sign;
	return (uint16_t)(magnitude > 0x7f800000 ? 0x7e00 : bits);
}

/* dist__bfloat16_to_float returns the value of a bfloat16, exactly. */
static inline float dist__bfloat16_to_float(uint16_t half)
{
	return dist__float_of_bits((uint32_t)half << 16);
}

/* dist__bfloat16_from_float returns the bfloat16 nearest to value. */
static inline uint16_t dist__bfloat16_from_float(float value)
{
	uint32_t bits = dist__float_bits(value);
	int32_t magnitude = (int32_t)(bits & 0x7fffffff);

	/* As above, dropping 16 bits. */
	bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	return (uint16_t)(magnitude > 0x7f800000 ? 0x7fc0 : bits);
}

#endif
