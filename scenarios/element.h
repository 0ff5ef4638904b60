/*
 * element.h - elements of every dtype as doubles: slow and simple, to check
 * results.
 *
 * Integers are exact below 2^53. A complex number is represented by its real
 * part; its imaginary part must be the negative of it, else it counts as NaN. A
 * float8, which is only moved, counts as int8.
 */
#ifndef LOCKSTEP_SCENARIOS_ELEMENT_H
#define LOCKSTEP_SCENARIOS_ELEMENT_H

#include "lockstep/dist.h"

/* element_load returns element i of data. */
double element_load(enum dist_dtype dtype, const void *data, size_t i);

/* element_store writes value into element i of data: floats rounded to the
 * nearest, integers (of a whole value that an int64 holds) by their low bits,
 * bool as 0 or 1. */
void element_store(enum dist_dtype dtype, void *data, size_t i, double value);

/* element_round returns value as an element can hold it. */
double element_round(enum dist_dtype dtype, double value);

/* element_combine returns two elements a and b, combined by op. */
double element_combine(enum dist_dtype dtype, enum dist_reduce_op op, double a,
		       double b);

/* element_scale returns value, an element, multiplied as PREMUL_SUM does. */
double element_scale(enum dist_dtype dtype, double value, double factor);

/* element_divide returns value, an element, divided as AVG does. */
double element_divide(enum dist_dtype dtype, double value, int divisor);

#endif
