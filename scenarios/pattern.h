/*
 * pattern.h - inputs of collectives whose results are known in closed form and
 * exact in every dtype.
 *
 * Element i of rank r is i mod 13 + r, for products 2 on rank i mod n and 1 on
 * the others; n is the world size.
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
