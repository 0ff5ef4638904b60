/* reduce.h - local reduction kernels, one table of dtype by op. */
#ifndef LOCKSTEP_CORE_REDUCE_H
#define LOCKSTEP_CORE_REDUCE_H

#include "lockstep/dist.h"

/* dist__reduce combines numel elements: acc[i] = acc[i] op in[i]. acc and in
 * do not overlap. AVG adds. No alignment beyond the element's. */
void dist__reduce(enum dist_dtype dtype, enum dist_reduce_op op, void *acc,
		  const void *in, size_t numel);

/* dist__divide divides numel elements by divisor: floats exactly rounded,
 * integers truncated towards zero. */
void dist__divide(enum dist_dtype dtype, void *data, size_t numel, int divisor);

#endif
