/*
 * chain.h - one wait after the other, up to where they end or close.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_CHAIN_H
#define LOCKSTEP_CHECK_CHAIN_H

#include "check/picture.h"

/* check_chain_next returns a rank that cohort waits for and that cannot come:
 * the first that is stuck itself, else the first that is gone; of those that a
 * receive from any source waits for, one that has sent least. If all can come,
 * the first; -1: it waits for none. */
int64_t check_chain_next(const struct check_picture *picture,
			 const struct check_cohort *cohort);

/* check_chain_start returns the rank to begin with: preferred, unless its chain
 * runs into a cycle that it is not part of; then one in the cycle. */
uint32_t check_chain_start(const struct check_picture *picture,
			   uint32_t preferred);

#endif
