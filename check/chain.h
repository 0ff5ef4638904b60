/*
 * chain.h - follows one wait to the next, to the end or round a cycle.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_CHAIN_H
#define LOCKSTEP_CHECK_CHAIN_H

#include "check/picture.h"

/*
 * check_chain_next returns a rank that cohort waits for and that cannot come:
 * the first that is stuck itself, else the first that is gone; for a receive
 * from any source, one that has sent least. If all can come: the first. For a
 * remote call: the lane that serves it or that delays it; else the callee,
 * unless the call may be in flight. NULL cohort: it waits for no rank.
 */
struct check_link check_chain_next(const struct check_picture *picture,
				   const struct check_cohort *cohort);

/* check_chain_link returns the link of rank's own thread. */
struct check_link check_chain_link(const struct check_picture *picture,
				   uint32_t rank);

/* check_chain_length returns a number of links after which a chain is a cycle.
 */
static inline uint32_t check_chain_length(const struct check_picture *picture)
{
	return picture->num_cohorts + picture->num_lanes + 1;
}

/* check_chain_start returns the rank to begin with: preferred, unless its chain
 * leads into a cycle without it; then a rank in the cycle whose own thread
 * waits, if there is one. */
uint32_t check_chain_start(const struct check_picture *picture,
			   uint32_t preferred);

#endif
