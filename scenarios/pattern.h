/*
 * pattern.h - inputs of collectives whose results are known, and exact in every
 * dtype whatever the order of combining.
 *
 * Element i of what rank r has for rank d depends on j = (i + d) mod 13. It is
 * (j + r) mod 13 to be moved, or for the smallest, largest and for bits; for
 * products 2 where that is 0 on the first ranks, else 1; for sums j + r, or in
 * dtypes of less than four bytes 1 where (j + r) mod 13 is 0, else 0: bfloat16
 * has every integer up to 256 only.
 */
#ifndef LOCKSTEP_SCENARIOS_PATTERN_H
#define LOCKSTEP_SCENARIOS_PATTERN_H

#include "lockstep/dist.h"

struct pattern {
	bool reduces; /* else elements are moved */
	enum dist_reduce_op op;
	enum dist_dtype dtype;
	int world_size;
};

/* pattern_fill writes what rank src has for dst; 0 where all get the same. */
void pattern_fill(const struct pattern *pattern, struct dist_tensor tensor,
		  int src, int dst);

/* pattern_count_wrong returns how many elements are not what src has for dst,
 * or, of a reduction, what all ranks have for dst, combined. */
int64_t pattern_count_wrong(const struct pattern *pattern,
			    struct dist_tensor tensor, int src, int dst);

#endif
