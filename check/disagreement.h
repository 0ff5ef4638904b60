/*
 * disagreement.h - where ranks disagree about a collective or a message.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_DISAGREEMENT_H
#define LOCKSTEP_CHECK_DISAGREEMENT_H

#include "check/groups.h"

/* Two calls that do not fit: the first index of a group at which two ranks
 * differ, the first pair of an all-to-all, or the two ends of a message. */
struct check_disagreement {
	const struct check_group *group; /* collectives */
	const struct check_call *a;      /* the minority's, or the receive */
	const struct check_call *b;      /* the others', or the send */
	uint32_t rank_a, rank_b;         /* first rank of each side */
	bool pair;             /* a, an all-to-all, sends to b another */
	uint32_t sent, wanted; /* number of elements than b awaits; */
	uint32_t other_pairs;  /* and so many others do, */
	int64_t common;        /* of all of which one is this rank; -1: no rank
				  alone, or there is one pair */
};

/* check_disagree finds the disagreement that came to be first: later ones may
 * follow from it. Of those at one instant, that of the group made first. False:
 * there is none. */
bool check_disagree(const struct check_board *board,
		    const struct check_groups *groups,
		    struct check_disagreement *found);

/* check_unequal_parts returns a collective that failed on a rank because a
 * message was of another length than awaited, and stores the first such rank;
 * NULL: there is none. The calls may be equal on record: they do not hold the
 * length of every part. */
const struct check_call *check_unequal_parts(const struct check_board *board,
					     uint32_t *rank);

/* check_may_differ returns whether the ranks may give call different numbers of
 * elements: only an all-to-all. */
bool check_may_differ(const struct check_call *call);

/* check_same_call returns whether two ranks agree about one collective: op,
 * dtype, numel, reduce op, root and terms. */
bool check_same_call(const struct check_call *a, const struct check_call *b);

/* check_counterpart returns the rank's collective at the same place of the same
 * group as like, NULL if not issued or out of the ring. */
const struct check_call *check_counterpart(const struct check_slot *slot,
					   const struct check_call *like);

/* check_count_like returns how many members of group hold the same call as like
 * at its place. */
uint32_t check_count_like(const struct check_board *board,
			  const struct check_group *group,
			  const struct check_call *like);

#endif
