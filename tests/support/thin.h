/* thin.h - fewer cases where each takes ten times as long: under the address
 * sanitizer simulated ranks are threads. */
#ifndef LOCKSTEP_TESTS_SUPPORT_THIN_H
#define LOCKSTEP_TESTS_SUPPORT_THIN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define THIN_STRIDE 64

/* thin keeps one in THIN_STRIDE of n elements of size bytes each, the first one
 * included, and returns how many; without the sanitizer, all. */
static inline size_t thin(void *elements, size_t n, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
	size_t kept = 0;

	for (size_t i = 0; i < n; i += THIN_STRIDE)
		memmove((char *)elements + kept++ * size,
			(char *)elements + i * size, size);
	return kept;
#else
	(void)elements;
	(void)size;
	return n;
#endif
}

/* thin_world is whether a world of so many ranks is looked at: all, but under
 * the address sanitizer one rank, a power of two and a number that is none. */
static inline bool thin_world(int world_size)
{
#ifdef __SANITIZE_ADDRESS__
	return world_size == 1 || world_size == 4 || world_size == 5;
#else
	return world_size > 0;
#endif
}

/* thin_step is the step of a loop whose cases differ by numbers only: n under
 * the address sanitizer, 1 without. */
static inline int thin_step(int n)
{
#ifdef __SANITIZE_ADDRESS__
	return n;
#else
	(void)n;
	return 1;
#endif
}

#endif
