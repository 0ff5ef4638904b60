/*
 * fill.h - values for parameters and gradients whose sums and averages over
 * the ranks are exact in float32, so that a check can ask for equality.
 *
 * Element i of rank r's gradient in step s is (i + s) mod 61 + r. Over n ranks
 * the sum n * ((i + s) mod 61) + n (n - 1) / 2 is a whole number below 2^24
 * for n up to 5000, and its n-th part a multiple of one half: float32 holds
 * both.
 */
#ifndef LOCKSTEP_SCENARIOS_FILL_H
#define LOCKSTEP_SCENARIOS_FILL_H

#include "lockstep/dist.h"

/* fill_parameters gives rank 0 the values that all ranks must have after the
 * broadcast, and others wrong values. */
void fill_parameters(float *values, size_t numel, int rank);

/* count_wrong_parameters returns the number of elements that are not rank 0's.
 */
double count_wrong_parameters(const float *values, size_t numel);

/* fill_gradients fills a tensor of float32 with rank's gradients of one step,
 * from element first on. */
void fill_gradients(struct dist_tensor tensor, size_t first, int rank,
		    int step);

/* count_wrong_sums returns how many of its elements from
 * first on are not the sum over world_size
 * ranks. */
double count_wrong_sums(struct dist_tensor tensor, size_t first, int world_size,
			int step);

/* count_wrong_gradients returns how many of its elements from first on are
 * not the average over world_size ranks, or more than allowance times that away
 * from it. */
double count_wrong_gradients(struct dist_tensor tensor, size_t first,
			     int world_size, int step, double allowance);

#endif
