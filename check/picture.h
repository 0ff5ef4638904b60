/*
 * picture.h - the job at one instant: ranks in equal states gathered into
 * cohorts, and who waits for whom. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_PICTURE_H
#define LOCKSTEP_CHECK_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "check/record.h"

/* Ranks in the same state: waiting in the same call at the same place, or
 * running, finished, lost, absent after the same last call. */
struct check_cohort {
	const struct check_slot *slot; /* of the first of them */
	const struct check_call *call; /* waited in; else the last; or NULL */
	bool waiting;
	bool failed;    /* of one of them at least the call has failed, */
	bool timed_out; /* by its deadline */
	bool may_move;  /* can still make progress, as far as can be known */
	uint32_t first, size;
};

struct check_picture {
	const struct check_board *board;
	uint32_t world_size;
	uint32_t *cohort_of; /* by rank */
	struct check_cohort *cohorts;
	uint32_t num_cohorts;
};

/* check_picture_init looks at board; false: no memory. */
bool check_picture_init(struct check_picture *picture,
			const struct check_board *board);
void check_picture_release(struct check_picture *picture);

/* check_waits_for returns whether a rank of cohort waits for rank: its peer, or
 * a member of its group that has not issued the collective yet. */
bool check_waits_for(const struct check_picture *picture,
		     const struct check_cohort *cohort, uint32_t rank);

/* check_member returns whether rank is in cohort (by number). */
static inline bool check_member(const struct check_picture *picture,
				uint32_t cohort_number, uint32_t rank)
{
	return picture->cohort_of[rank] == cohort_number;
}

/* check_print_ranks writes those ranks for which has() is true: "rank 3",
 * "ranks 0,2-5 (5)". */
void check_print_ranks(FILE *out, uint32_t world_size,
		       bool (*has)(const void *arg, uint32_t rank),
		       const void *arg);

/* check_may_differ returns whether the ranks may give call different numbers of
 * elements: only an all-to-all. */
bool check_may_differ(const struct check_call *call);

/* check_same_call returns whether two ranks agree about one collective: op,
 * dtype, numel, reduce op and root. */
bool check_same_call(const struct check_call *a, const struct check_call *b);

/* check_unequal_parts returns the first collective of the default group that a
 * rank is stuck in because a message was of another length than awaited, and
 * stores the rank; NULL: there is none. What the records tell of the calls may
 * be equal: they do not hold the length of every part. */
const struct check_call *check_unequal_parts(const struct check_board *board,
					     uint32_t *rank);

/* Where ranks disagree: the first index of the default group at which two
 * calls differ, or a message whose two ends do. */
struct check_disagreement {
	uint32_t index;             /* collectives */
	const struct check_call *a; /* the minority's, or the receive */
	const struct check_call *b; /* the others', or the send */
	uint32_t rank_a, rank_b;    /* first rank of each side */
};

/* check_disagree finds the first disagreement; false: there is none. */
bool check_disagree(const struct check_board *board,
		    struct check_disagreement *found);

/* check_collective_at returns rank's collective of that index in the default
 * group, NULL if not issued or out of the ring. */
const struct check_call *check_collective_at(const struct check_slot *slot,
					     uint32_t index);

#endif
