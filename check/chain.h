/*
 * chain.h - one wait after the other, up to where they end or close.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_CHAIN_H
#define LOCKSTEP_CHECK_CHAIN_H

#include "check/picture.h"

/* A rank in a chain, or a function that it runs for another; cohort NULL: none.
 */
struct check_link {
	const struct check_cohort *cohort;
	uint32_t rank;
};

/*
 * check_chain_next returns a rank that cohort waits for and that cannot come:
 * the first that is stuck itself, else the first that is gone; of those that a
 * receive from any source waits for, one that has sent least. If all can come,
 * the first. For a remote call, the lane that serves it or keeps it from being
 * served; else the callee, unless the call may be under way. None: it waits for
 * none.
 */
struct check_link check_chain_next(const struct check_picture *picture,
				   const struct check_cohort *cohort);

/* check_chain_link returns the link that rank's own thread is. */
struct check_link check_chain_link(const struct check_picture *picture,
				   uint32_t rank);

/* check_chain_length returns after how many links a chain has closed. */
static inline uint32_t check_chain_length(const struct check_picture *picture)
{
	return picture->num_cohorts + picture->num_lanes + 1;
}

/* check_chain_start returns the rank to begin with: preferred, unless its chain
 * runs into a cycle that it is not part of; then one in the cycle, if that has
 * one that waits by itself. */
uint32_t check_chain_start(const struct check_picture *picture,
			   uint32_t preferred);

#endif
