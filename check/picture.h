/*
 * picture.h - the job at one instant: ranks in equal states gathered into
 * cohorts, and who waits for whom. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_PICTURE_H
#define LOCKSTEP_CHECK_PICTURE_H

#include "check/groups.h"

/* Ranks in the same state: waiting in the same call at the same place, or
 * running, finished, lost, absent after the same last call. */
struct check_cohort {
	const struct check_slot *slot; /* of the first of them */
	/* The remote call that they wait in, one rank then; NULL: none, or not
	 * known, so that call alone is */
	const struct check_rpc_wait *wait;
	/* Of a lane: the call that it serves. NULL: these are ranks */
	const struct check_serving *serving;
	const struct check_call *call;   /* waited in; else the last; or NULL */
	const struct check_group *group; /* that call is on; NULL: not known */
	bool waiting;
	bool failed;    /* of one of them at least the call has failed, */
	bool timed_out; /* it, or one before it, by its deadline */
	bool answered;  /* the message that they wait with is under way */
	bool astray;    /* where they stand, a failure led them: nobody knows
			   what they would have done without it */
	bool may_move;  /* can still make progress, as far as can be known */
	uint32_t first, size;
};

struct check_picture {
	const struct check_board *board;
	struct check_groups groups;
	uint32_t world_size;
	uint32_t *cohort_of; /* by rank */
	struct check_cohort *cohorts;
	uint32_t num_cohorts;
	/* Functions that ranks run for others, by rank; a lane has no call. */
	struct check_cohort *lanes;
	uint32_t num_lanes;
};

/* check_picture_init looks at board; false: no memory. */
bool check_picture_init(struct check_picture *picture,
			const struct check_board *board);
void check_picture_release(struct check_picture *picture);

/*
 * check_next_awaited returns the first rank, not below `from`, that each rank
 * of cohort waits for: its peer, unless that has called the other end; another
 * member of its group, of which one is enough, if it receives from any source;
 * a member that has not issued the collective yet; or the worker of a remote
 * call, those that have not come to the shutdown. world_size: there is none.
 */
uint32_t check_next_awaited(const struct check_picture *picture,
			    const struct check_cohort *cohort, uint32_t from);

static inline const struct check_cohort *
check_cohort_of(const struct check_picture *picture, uint32_t rank)
{
	return &picture->cohorts[picture->cohort_of[rank]];
}

/* check_is_caught returns whether cohort waits for what cannot come. */
static inline bool check_is_caught(const struct check_cohort *cohort)
{
	return cohort->waiting && !cohort->may_move;
}

/* check_awaits returns whether cohort waits for rank. */
static inline bool check_awaits(const struct check_picture *picture,
				const struct check_cohort *cohort,
				uint32_t rank)
{
	return check_next_awaited(picture, cohort, rank) == rank;
}

/* check_is_awaited returns whether any cohort does, or a lane. */
bool check_is_awaited(const struct check_picture *picture, uint32_t rank);

/* check_can_come returns whether rank, which cohort waits for, may still do
 * what it is awaited for. */
bool check_can_come(const struct check_picture *picture,
		    const struct check_cohort *cohort, uint32_t rank);

/* check_has_left returns whether rank gave up the group that cohort waits
 * in, or serves no remote calls any more, of which one is awaited. */
bool check_has_left(const struct check_picture *picture,
		    const struct check_cohort *cohort, uint32_t rank);

/* check_alike returns whether a and b are the same to a reader: they differ at
 * most in which groups they are in, and, if they wait there, not in its name.
 */
bool check_alike(const struct check_cohort *a, const struct check_cohort *b);

#endif
