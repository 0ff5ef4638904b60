/*
 * pattern.h - inputs of collectives with known results, exact in every dtype
 * and for any order of combining.
 *
 * Element i of the input of rank r for rank d depends on j = (i + d) mod 13. It
 * is (j + r) mod 13 when moved, and for minimum, maximum and bit operations;
 * for products 2 where that is 0 on the first ranks, else 1; for sums j + r, or
 * in dtypes of less than four bytes 1 where (j + r) mod 13 is 0, else 0,
 * because bfloat16 has every integer only up to 256.
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

/* pattern_fill writes the input of rank src for dst; dst is 0 if all ranks get
 * the same. */
void pattern_fill(const struct pattern *pattern, struct dist_tensor tensor,
		  int src, int dst);

/* pattern_count_wrong returns the number of elements that differ from the input
 * of src for dst or, in a reduction, from the combined inputs of all ranks for
 * dst. */
int64_t pattern_count_wrong(const struct pattern *pattern,
			    struct dist_tensor tensor, int src, int dst);

#endif
