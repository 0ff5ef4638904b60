/* ring.h - the all-gather of a ring, for algorithms that end with one. Private
 * to coll/. */
#ifndef LOCKSTEP_COLL_RING_H
#define LOCKSTEP_COLL_RING_H

#include "coll/algorithm.h"

/*
 * dist__ring_all_gather_from completes parts on every rank. Each rank begins
 * with the part of its own number, which counts from root. Each rank sends
 * p - 1 messages, with steps from first_step. Errors: those of the transport.
 */
enum dist_error dist__ring_all_gather_from(const struct dist__coll *coll,
					   const struct dist__parts *parts,
					   int root, int first_step);

#endif
