/*
 * disagreement.h - finds where ranks disagree about a collective or a message.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_DISAGREEMENT_H
#define LOCKSTEP_CHECK_DISAGREEMENT_H

#include "check/groups.h"

/* Two calls that do not match: the first index of a group at which two ranks
 * differ, the first such pair of an all-to-all, both ends of a message, or two
 * calls that ask for groups of other ranks by the same number. */
struct check_disagreement {
	const struct check_group *group; /* collectives */
	bool made;                       /* of calls that ask for a group */
	const struct check_call *a;      /* the minority's, or the receive */
	const struct check_call *b;      /* the others', or the send */
	uint32_t rank_a, rank_b;         /* first rank of each side */
	bool pair;             /* all-to-all: a sends b `sent` elements, but */
	uint32_t sent, wanted; /* b awaits `wanted` of them, */
	uint32_t other_pairs;  /* and so many other pairs differ, too */
	int64_t common;        /* the one rank in all pairs; -1: there is none,
				  or there is only one pair */
	const struct check_parts *sends, *awaits; /* of the pair's ranks */
};

/* check_disagree finds the disagreement with the earliest calls: later ones may
 * follow from it. Of several at one instant, the one in the oldest group.
 * Returns false if there is none. */
bool check_disagree(const struct check_board *board,
		    const struct check_groups *groups,
		    struct check_disagreement *found);

/* check_unequal_parts returns a collective that failed on a rank because a
 * message had another length than awaited, and stores the first such rank;
 * NULL: there is none. The records of both calls may be equal: they do not hold
 * the length of every part. */
const struct check_call *check_unequal_parts(const struct check_board *board,
					     uint32_t *rank);

/* check_may_differ returns whether ranks may pass different numbers of elements
 * to call: only in an all-to-all. */
bool check_may_differ(const struct check_call *call);

/* check_same_call returns whether two ranks agree about a collective: op,
 * dtype, numel, reduce op, root and terms. */
bool check_same_call(const struct check_call *a, const struct check_call *b);

/* check_counterpart returns the rank's collective with the group and index of
 * like; NULL: not issued, or not in the ring any more. */
const struct check_call *check_counterpart(const struct check_slot *slot,
					   const struct check_call *like);

/* check_count_like returns the number of members of group whose call at the
 * index of like is the same call. */
uint32_t check_count_like(const struct check_board *board,
			  const struct check_group *group,
			  const struct check_call *like);

#endif
