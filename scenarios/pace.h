/*
 * pace.h - how much longer a rank computes: stragglers, and random jitter from
 * a seed, the same in every world.
 */
#ifndef LOCKSTEP_SCENARIOS_PACE_H
#define LOCKSTEP_SCENARIOS_PACE_H

#include "lockstep/dist.h"

/* The most stragglers. */
#define PACE_STRAGGLERS 16

struct pace {
	double jitter; /* standard deviation over mean; 0: none */
	uint64_t seed;
	size_t num_stragglers;
	struct {
		int rank;
		double factor;
	} stragglers[PACE_STRAGGLERS];
};

/*
 * pace_read reads "RANK:FACTOR[,RANK:FACTOR...]" into pace's stragglers; text
 * NULL: none. A factor is more than 0 and at most 1000. Errors:
 * DIST_ERR_INVALID_ARGUMENT; message says what was expected.
 */
DIST_MUST_CHECK enum dist_error pace_read(struct pace *pace, const char *text,
					  struct dist_message *message);

/* pace_factor returns the factor on rank's computing time in a step: its factor
 * as a straggler (others: 1) times a draw from a log-normal distribution of
 * mean 1. */
double pace_factor(const struct pace *pace, int rank, int step);

/* pace_draw returns a draw from the log-normal distribution of mean 1 and
 * standard deviation spread, determined by seed, a and b. */
double pace_draw(double spread, uint64_t seed, uint64_t a, uint64_t b);

#endif
