#include "check/picture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "check/disagreement.h"
#include "check/message.h"
#include "check/remote_wait.h"
#include "lockstep/types.h"

/* The call that says where the rank is: the one it waits in, else its last. */
static const struct check_call *call_of(const struct check_slot *slot)
{
	bool waiting = slot->state == CHECK_RANK_WAITING;

	return check_call_find(slot, waiting ? slot->waiting : slot->calls);
}

/* Whether two ranks are in the same state, on whatever group. */
static bool same_state(const struct check_slot *x, const struct check_call *a,
		       const struct check_slot *y, const struct check_call *b)
{
	if (x->state != y->state || x->damaged != y->damaged || !a != !b)
		return false;
	if (x->state == CHECK_RANK_WAITING &&
	    !check_same_site(&x->wait_site, &y->wait_site))
		return false;
	return !a ||
	       ((a->index == b->index || a->tag >= 0) && a->tag == b->tag &&
		check_same_call(a, b) && strcmp(a->label, b->label) == 0 &&
		check_same_place(a, b));
}

/* Whether the rank called `call` after another had failed. */
static bool failed_before(const struct check_slot *slot,
			  const struct check_call *call)
{
	for (uint32_t i = 0; i < check_ring(slot); i++) {
		const struct check_call *a = &slot->ring[i];

		if (a->state == CHECK_CALL_FAILED &&
		    a->generation == call->generation &&
		    a->ended_ns < call->issued_ns)
			return true;
	}
	return false;
}

/* Whether the rank, of a job in which a call failed, may stand where it does
 * only for a failure: it went on, or ended, after one. Not so of a rank that
 * still waits in the first call that failed. */
static bool is_astray(const struct check_slot *slot)
{
	const struct check_call *call = call_of(slot);

	if (!slot->failed || (slot->state != CHECK_RANK_WAITING &&
			      slot->state != CHECK_RANK_FINISHED))
		return false;
	return slot->state == CHECK_RANK_FINISHED || !call ||
	       call->state != CHECK_CALL_FAILED ||
	       slot->looked_at == call->number || failed_before(slot, call);
}

static bool stands_in_failure(const struct check_slot *slot)
{
	const struct check_call *call = call_of(slot);

	return slot->state == CHECK_RANK_WAITING && call &&
	       call->state == CHECK_CALL_FAILED;
}

/* Whether a call of the rank failed by its deadline: the one that it stands in,
 * or one before, for which that was given up. */
static bool ran_out_of_time(const struct check_slot *slot)
{
	for (uint32_t i = 0; i < check_ring(slot); i++) {
		const struct check_call *a = &slot->ring[i];

		if (a->state == CHECK_CALL_FAILED &&
		    a->generation == slot->generation &&
		    a->error == DIST_ERR_TIMEOUT)
			return true;
	}
	return false;
}

static bool any_failed(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (stands_in_failure(&board->slots[rank]))
			return true;
	return false;
}

static bool belongs(const struct check_cohort *cohort,
		    const struct check_slot *slot, bool answered, bool astray)
{
	const struct check_call *a = cohort->call, *b = call_of(slot);

	assert(cohort->slot);
	if (cohort->answered != answered || cohort->astray != astray ||
	    cohort->wait || check_own_wait(slot))
		return false;
	if (a && b &&
	    (a->group_id != b->group_id || a->leader != b->leader ||
	     a->generation != b->generation))
		return false;
	return same_state(cohort->slot, a, slot, b);
}

bool check_alike(const struct check_cohort *a, const struct check_cohort *b)
{
	return same_state(a->slot, a->call, b->slot, b->call) &&
	       (!a->waiting || !a->call ||
		strcmp(a->call->group, b->call->group) == 0);
}

static const struct check_group *group_of(const struct check_picture *p,
					  const struct check_call *call)
{
	return call && call->tag != CHECK_TAG_RPC
		       ? check_group_of(&p->groups, call)
		       : NULL;
}

static void classify(struct check_picture *p, uint32_t rank, bool failed)
{
	const struct check_slot *slot = &p->board->slots[rank];
	struct check_cohort *cohort = p->cohorts;
	bool astray = failed && is_astray(slot);
	bool answered =
		check_is_answered(p->board, group_of(p, call_of(slot)), rank);
	uint32_t i;

	for (i = 0; i < p->num_cohorts; i++, cohort++)
		if (belongs(cohort, slot, answered, astray))
			break;
	if (i == p->num_cohorts) {
		p->num_cohorts++;
		*cohort = (struct check_cohort){
			.slot = slot,
			.call = call_of(slot),
			.wait = check_own_wait(slot),
			.group = group_of(p, call_of(slot)),
			.waiting = slot->state == CHECK_RANK_WAITING,
			.answered = answered,
			.astray = astray,
			.first = rank,
		};
	}
	if (stands_in_failure(slot)) {
		cohort->failed = true;
		cohort->timed_out |= ran_out_of_time(slot);
	}
	cohort->size++;
	p->cohort_of[rank] = i;
}

/* Whether cohort may hear rank, of its group; who waits for the same key does
 * not set it. */
static bool may_hear(const struct check_picture *p,
		     const struct check_cohort *cohort, uint32_t rank)
{
	return (cohort->size > 1 && check_from_any(cohort->call)) ||
	       check_cohort_of(p, rank) != cohort;
}

bool check_has_dropped(const struct check_picture *p,
		       const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];
	const struct check_call *own = NULL;

	if (slot->state == CHECK_RANK_FINISHED && cohort->group &&
	    cohort->call->tag < 0)
		own = check_counterpart(slot, cohort->call);
	return own && own->state == CHECK_CALL_ISSUED;
}

/* Whether rank, of its group, is one that cohort waits for. */
static bool is_missing(const struct check_picture *p,
		       const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_call *call = cohort->call;

	if (check_is_from_one(call))
		return may_hear(p, cohort, rank);
	return check_collectives(&p->board->slots[rank], call->group_id,
				 call->generation) <= call->index ||
	       check_has_dropped(p, cohort, rank);
}

/* As check_next_awaited(), of the ranks below `end`. */
static uint32_t next_below(const struct check_picture *p,
			   const struct check_cohort *cohort, uint32_t from,
			   uint32_t end)
{
	const struct check_call *call = cohort->call;
	const struct check_group *group = cohort->group;

	if (cohort->wait)
		return check_next_worker(p, cohort, from);
	if (!cohort->waiting || !call || cohort->answered)
		return p->world_size;
	if (!check_is_from_one(call) && call->tag >= 0) {
		uint32_t peer = (uint32_t)call->peer_rank;

		return peer >= from && peer < p->world_size ? peer
							    : p->world_size;
	}
	for (uint32_t i = group ? check_group_from(group, from) : 0;
	     group && i < group->num_members; i++) {
		uint32_t rank = check_group_member(group, i);

		if (rank >= end)
			break;
		if (is_missing(p, cohort, rank))
			return rank;
	}
	return p->world_size;
}

uint32_t check_next_awaited(const struct check_picture *p,
			    const struct check_cohort *cohort, uint32_t from)
{
	return next_below(p, cohort, from, p->world_size);
}

bool check_awaits(const struct check_picture *p,
		  const struct check_cohort *cohort, uint32_t rank)
{
	return next_below(p, cohort, rank, rank + 1) == rank;
}

bool check_is_awaited(const struct check_picture *p, uint32_t rank)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++)
		if (check_awaits(p, &p->cohorts[i], rank))
			return true;
	for (uint32_t i = 0; i < p->num_lanes; i++)
		if (check_awaits(p, &p->lanes[i], rank))
			return true;
	return false;
}

bool check_has_left(const struct check_picture *p,
		    const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];
	const struct check_membership *own;

	if (cohort->wait)
		return slot->remote.state == CHECK_RPC_ENDED;
	if (!cohort->call || cohort->call->tag == CHECK_TAG_STORE)
		return false;
	own = check_membership_find(slot, cohort->call->group_id);
	return own && own->left == CHECK_DESTROYED;
}

bool check_can_come(const struct check_picture *p,
		    const struct check_cohort *cohort, uint32_t rank)
{
	return check_cohort_of(p, rank)->may_move &&
	       !check_has_left(p, cohort, rank);
}

/* Whether cohort, which only looked at its call and may have been elsewhere,
 * awaits there a rank that has ended by itself and made no such call: nothing
 * that the looking ranks might do instead brings it. */
static bool is_hopeless(const struct check_picture *p,
			const struct check_cohort *cohort)
{
	const struct check_slot *slot = cohort->slot;
	uint32_t rank = check_next_awaited(p, cohort, 0);

	if (!cohort->call || slot->looked_at != cohort->call->number ||
	    failed_before(slot, cohort->call))
		return false;
	for (; rank < p->world_size;
	     rank = check_next_awaited(p, cohort, rank + 1))
		if (p->board->slots[rank].state == CHECK_RANK_FINISHED &&
		    !p->board->slots[rank].failed)
			return true;
	return false;
}

/* Whether those may come that cohort waits for: all of them, or one if it
 * receives from any source. */
static bool may_come(const struct check_picture *p,
		     const struct check_cohort *cohort)
{
	uint32_t rank = check_next_awaited(p, cohort, 0);
	bool one;

	if (!cohort->call || cohort->answered)
		return true;
	one = check_is_from_one(cohort->call);
	for (uint32_t i = 0; i < p->num_lanes; i++)
		if (cohort->call->tag == CHECK_TAG_STORE &&
		    p->lanes[i].may_move)
			return true;
	while (rank < p->world_size && check_can_come(p, cohort, rank) != one)
		rank = check_next_awaited(p, cohort, rank + 1);
	return (rank == p->world_size) != one;
}

/* Whether cohort, or a lane, is found to be able to move only now. */
static bool learns_to_move(const struct check_picture *p,
			   struct check_cohort *cohort)
{
	bool known = cohort->may_move || !cohort->waiting;

	if (known || !(cohort->wait ? check_remote_may_come(p, cohort)
				    : may_come(p, cohort)))
		return false;
	cohort->may_move = true;
	return true;
}

/* Marks the cohorts that may move: those in their own code, those that have not
 * joined or are unknown, those astray after a failure, lanes whose function
 * runs, and those that wait only for such cohorts. */
static void find_movable(struct check_picture *p)
{
	bool changed = true;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		struct check_cohort *cohort = &p->cohorts[i];
		uint32_t state = cohort->slot->state;

		cohort->astray = cohort->astray && !is_hopeless(p, cohort);
		cohort->may_move = state == CHECK_RANK_RUNNING ||
				   state == CHECK_RANK_ABSENT ||
				   state == CHECK_RANK_UNKNOWN ||
				   cohort->astray;
	}
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < p->num_cohorts; i++)
			changed |= learns_to_move(p, &p->cohorts[i]);
		for (uint32_t i = 0; i < p->num_lanes; i++)
			changed |= learns_to_move(p, &p->lanes[i]);
	}
}

bool check_picture_init(struct check_picture *p,
			const struct check_board *board)
{
	uint32_t n = board->world_size;
	bool failed;

	*p = (struct check_picture){.board = board, .world_size = n};
	p->cohort_of = calloc(n, sizeof *p->cohort_of);
	p->cohorts = calloc(n, sizeof *p->cohorts);
	if (!p->cohort_of || !p->cohorts ||
	    !check_groups_init(&p->groups, board) || !check_find_lanes(p)) {
		check_picture_release(p);
		return false;
	}
	failed = any_failed(board);
	for (uint32_t rank = 0; rank < n; rank++)
		classify(p, rank, failed);
	find_movable(p);
	p->next = calloc(p->num_cohorts + p->num_lanes, sizeof *p->next);
	if (!p->next)
		check_picture_release(p);
	return p->next;
}

void check_picture_release(struct check_picture *p)
{
	free(p->cohort_of);
	free(p->cohorts);
	free(p->lanes);
	free(p->next);
	check_groups_release(&p->groups);
	p->cohort_of = NULL;
	p->cohorts = p->lanes = NULL;
	p->next = NULL;
}
