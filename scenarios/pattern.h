/*
 * pattern.h - inputs of collectives whose results are known, and exact in every
 * dtype whatever the order of summing up.
 *
 * Element i of rank r depends on i mod 13. It is (i + r) mod 13 to be moved, or
 * for the smallest or largest; for products 2 where that is 0 on the first
 * ranks, else 1; for sums i mod 13 + r, or in dtypes of less than four bytes 1
 * where (i + r) mod 13 is 0, else 0: bfloat16 has every integer up to 256 only.
 */
#ifndef LOCKSTEP_SCENARIOS_PATTERN_H
#define LOCKSTEP_SCENARIOS_PATTERN_H

#include "scenarios/sweep.h"

struct pattern {
	enum sweep_collective collective;
	enum dist_reduce_op op;
	enum dist_dtype dtype;
	int root;
	int rank;
	int world_size;
};

/* pattern_fill writes this rank's input. */
void pattern_fill(const struct pattern *pattern, void *data, size_t numel);

/* pattern_count_wrong returns how many elements of this rank's result are
 * wrong; 0 on the ranks that a reduction leaves without one. */
int64_t pattern_count_wrong(const struct pattern *pattern, const void *data,
			    size_t numel);

#endif
