/*
 * random.h - random numbers from a seed, the same on every machine: SplitMix64,
 * by G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number
 * Generators", OOPSLA 2014.
 */
#ifndef LOCKSTEP_BASE_RANDOM_H
#define LOCKSTEP_BASE_RANDOM_H

#include <stdint.h>

/* dist__random_next returns the next number of a sequence and advances *state,
 * whose first value is the seed. */
static inline uint64_t dist__random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* dist__random_of returns a hash of x: if one bit of x changes, half of the
 * result's bits change. */
static inline uint64_t dist__random_of(uint64_t x)
{
	return dist__random_next(&x);
}

#endif
