/*
 * picture.h - the job at one instant: ranks in equal states form cohorts, which
 * wait for each other. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_PICTURE_H
#define LOCKSTEP_CHECK_PICTURE_H

#include "check/groups.h"

/* Ranks in the same state: waiting in the same call at the same place, or
 * running, finished, lost, absent after the same last call. */
struct check_cohort {
	const struct check_slot *slot; /* of the first of them */
	/* The remote call that they wait in (then one rank); NULL: none, or not
	 * known, and call says where. */
	const struct check_rpc_wait *wait;
	/* A lane: the call that it serves. NULL: these are ranks. */
	const struct check_serving *serving;
	const struct check_call *call;   /* waited in; else the last; or NULL */
	const struct check_group *group; /* that call is on; NULL: not known */
	bool waiting;
	bool failed;    /* the call of one of them has failed, */
	bool timed_out; /* or this or an earlier call at its deadline */
	bool answered;  /* the message that they wait for is in flight */
	bool astray;    /* they are where they are after a failure; what they
			   would have done without it is unknown */
	bool may_move;  /* may still make progress, as far as is known */
	uint32_t first, size;
};

/* A rank in a chain, or a function that it runs for another; cohort NULL: none.
 */
struct check_link {
	const struct check_cohort *cohort;
	uint32_t rank;
};

struct check_picture {
	const struct check_board *board;
	struct check_groups groups;
	uint32_t world_size;
	uint32_t *cohort_of; /* by rank */
	struct check_cohort *cohorts;
	uint32_t num_cohorts;
	/* Functions that ranks run for others, by rank; call is NULL. */
	struct check_cohort *lanes;
	uint32_t num_lanes;
	/* The answers of check_chain_next() so far: cohorts', then lanes'. */
	struct check_next {
		bool known;
		struct check_link link;
	} * next;
};

/* check_picture_init makes the picture of board; false: no memory. */
bool check_picture_init(struct check_picture *picture,
			const struct check_board *board);
void check_picture_release(struct check_picture *picture);

/*
 * check_next_awaited returns the first rank >= from that each rank of cohort
 * waits for: its peer, unless that has called the other end; if it receives
 * from any source, any other member of its group; a member that has not issued
 * the collective yet, or ended before it was complete; the worker of a remote
 * call; for a shutdown, the workers that have not come to it. world_size: there
 * is none.
 */
uint32_t check_next_awaited(const struct check_picture *picture,
			    const struct check_cohort *cohort, uint32_t from);

static inline const struct check_cohort *
check_cohort_of(const struct check_picture *picture, uint32_t rank)
{
	return &picture->cohorts[picture->cohort_of[rank]];
}

/* check_is_caught returns whether cohort waits for what will never happen. */
static inline bool check_is_caught(const struct check_cohort *cohort)
{
	return cohort->waiting && !cohort->may_move;
}

/* check_awaits returns whether cohort waits for rank. */
bool check_awaits(const struct check_picture *picture,
		  const struct check_cohort *cohort, uint32_t rank);

/* check_is_awaited returns whether any cohort or lane waits for rank. */
bool check_is_awaited(const struct check_picture *picture, uint32_t rank);

/* check_can_come returns whether rank, which cohort waits for, may still do
 * what cohort waits for. */
bool check_can_come(const struct check_picture *picture,
		    const struct check_cohort *cohort, uint32_t rank);

/* check_has_left returns whether rank gave up the group that cohort waits in,
 * or, if cohort waits for a remote call, serves none any more. */
bool check_has_left(const struct check_picture *picture,
		    const struct check_cohort *cohort, uint32_t rank);

/* check_has_dropped returns whether rank issued the collective that cohort
 * waits in, and ended before it was complete. */
bool check_has_dropped(const struct check_picture *picture,
		       const struct check_cohort *cohort, uint32_t rank);

/* check_alike returns whether a reader sees no difference between a and b: they
 * differ at most in their groups, and if they wait, not in the group's name.
 */
bool check_alike(const struct check_cohort *a, const struct check_cohort *b);

#endif
