/* reduce.h - local reduction kernels, one table of dtype by op. */
#ifndef LOCKSTEP_CORE_REDUCE_H
#define LOCKSTEP_CORE_REDUCE_H

#include "lockstep/dist.h"

/* dist__reduce_has returns whether elements of dtype combine by op: the legal
 * pairs of dist.h. Both must be values of their enum. */
bool dist__reduce_has(enum dist_dtype dtype, enum dist_reduce_op op);

/* dist__reduce combines numel elements: acc[i] = acc[i] op in[i]. acc and in
 * do not overlap. AVG and PREMUL_SUM add. No alignment beyond the element's. A
 * legal pair only. */
void dist__reduce(enum dist_dtype dtype, enum dist_reduce_op op, void *acc,
		  const void *in, size_t numel);

/* dist__divide divides numel elements by divisor: float32 and float64 exactly
 * rounded, float16 and bfloat16 in float32 and then rounded, integers truncated
 * towards zero, complex numbers part by part. Not of bool and float8. */
void dist__divide(enum dist_dtype dtype, void *data, size_t numel, int divisor);

/* dist__scale multiplies numel elements of a float or complex type by factor,
 * which is first rounded to that type, to shorter ones by way of float32. */
void dist__scale(enum dist_dtype dtype, void *data, size_t numel,
		 double factor);

#endif
