/* reduce.h - local reduction kernels, in one table by dtype and op. */
#ifndef LOCKSTEP_CORE_REDUCE_H
#define LOCKSTEP_CORE_REDUCE_H

#include "lockstep/dist.h"

/* dist__reduce_has returns whether dtype and op are a legal pair of dist.h.
 * Both must be values of their enum. */
bool dist__reduce_has(enum dist_dtype dtype, enum dist_reduce_op op);

/* dist__reduce combines numel elements: acc[i] = acc[i] op in[i]. acc and in
 * do not overlap and are aligned for an element. AVG and PREMUL_SUM add.
 * dtype and op must be a legal pair. */
void dist__reduce(enum dist_dtype dtype, enum dist_reduce_op op, void *acc,
		  const void *in, size_t numel);

/* dist__divide divides numel elements by divisor: float32 and float64 rounded
 * once, float16 and bfloat16 in float32 and then rounded, integers truncated
 * towards zero, complex numbers part by part. Not for bool and float8. */
void dist__divide(enum dist_dtype dtype, void *data, size_t numel, int divisor);

/* dist__scale multiplies numel elements of a float or complex type by factor,
 * rounded to that type first (to types shorter than float32 by way of it). */
void dist__scale(enum dist_dtype dtype, void *data, size_t numel,
		 double factor);

#endif
