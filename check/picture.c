#include "check/picture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "check/disagreement.h"
#include "check/message.h"

/* The same number as DIST_ERR_TIMEOUT: check/ does not include dist.h. */
enum { ERROR_TIMEOUT = -5 };

/* The call that says where the rank is: the one it waits in, else its last. */
static const struct check_call *call_of(const struct check_slot *slot)
{
	bool waiting = slot->state == CHECK_RANK_WAITING;

	return check_call_find(slot, waiting ? slot->waiting : slot->calls);
}

static bool same_site(const struct check_site *a, const struct check_site *b)
{
	return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Whether two ranks are in the same state, on whatever group. */
static bool same_state(const struct check_slot *x, const struct check_call *a,
		       const struct check_slot *y, const struct check_call *b)
{
	if (x->state != y->state || !a != !b)
		return false;
	if (x->state == CHECK_RANK_WAITING &&
	    !same_site(&x->wait_site, &y->wait_site))
		return false;
	return !a ||
	       ((a->index == b->index || a->tag >= 0) && a->tag == b->tag &&
		check_same_call(a, b) && strcmp(a->label, b->label) == 0 &&
		same_site(&a->site, &b->site));
}

static bool belongs(const struct check_cohort *cohort,
		    const struct check_slot *slot, bool answered)
{
	const struct check_call *a = cohort->call, *b = call_of(slot);

	assert(cohort->slot);
	if (cohort->answered != answered)
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
	return call ? check_group_of(&p->groups, call) : NULL;
}

static void classify(struct check_picture *p, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];
	struct check_cohort *cohort = p->cohorts;
	bool answered =
		check_is_answered(p->board, group_of(p, call_of(slot)), rank);
	uint32_t i;

	for (i = 0; i < p->num_cohorts; i++, cohort++)
		if (belongs(cohort, slot, answered))
			break;
	if (i == p->num_cohorts) {
		p->num_cohorts++;
		*cohort = (struct check_cohort){
			.slot = slot,
			.call = call_of(slot),
			.group = group_of(p, call_of(slot)),
			.waiting = slot->state == CHECK_RANK_WAITING,
			.answered = answered,
			.first = rank,
		};
	}
	if (cohort->waiting && call_of(slot) &&
	    call_of(slot)->state == CHECK_CALL_FAILED) {
		cohort->failed = true;
		cohort->timed_out |= call_of(slot)->error == ERROR_TIMEOUT;
	}
	cohort->size++;
	p->cohort_of[rank] = i;
}

/* The first member of its group, not below `from`, that cohort may hear. */
static uint32_t next_source(const struct check_picture *p,
			    const struct check_cohort *cohort, uint32_t from)
{
	const struct check_group *group = cohort->group;
	uint32_t i = group ? check_group_from(group, from) : 0;

	for (; group && i < group->num_members; i++)
		if (cohort->size > 1 ||
		    check_group_member(group, i) != cohort->first)
			return check_group_member(group, i);
	return p->world_size;
}

uint32_t check_next_awaited(const struct check_picture *p,
			    const struct check_cohort *cohort, uint32_t from)
{
	const struct check_call *call = cohort->call;
	uint32_t peer, i;

	if (!cohort->waiting || !call || cohort->answered)
		return p->world_size;
	if (check_from_any(call))
		return next_source(p, cohort, from);
	if (call->tag >= 0) {
		peer = (uint32_t)call->peer_rank;
		return peer >= from && peer < p->world_size ? peer
							    : p->world_size;
	}
	if (!cohort->group)
		return p->world_size;
	i = check_group_from(cohort->group, from);
	for (; i < cohort->group->num_members; i++) {
		uint32_t rank = check_group_member(cohort->group, i);

		if (check_collectives(&p->board->slots[rank], call->group_id,
				      call->generation) <= call->index)
			return rank;
	}
	return p->world_size;
}

bool check_has_left(const struct check_picture *p,
		    const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_membership *own = check_membership_find(
		&p->board->slots[rank], cohort->call->group_id);

	return own && own->left;
}

bool check_can_come(const struct check_picture *p,
		    const struct check_cohort *cohort, uint32_t rank)
{
	return p->cohorts[p->cohort_of[rank]].may_move &&
	       !check_has_left(p, cohort, rank);
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
	one = check_from_any(cohort->call);
	while (rank < p->world_size && check_can_come(p, cohort, rank) != one)
		rank = check_next_awaited(p, cohort, rank + 1);
	return (rank == p->world_size) != one;
}

/* The least set of cohorts that may move: those in their own code, not yet
 * here or not known, and those that wait only for such. */
static void find_movable(struct check_picture *p)
{
	bool changed = true;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		uint32_t state = p->cohorts[i].slot->state;

		p->cohorts[i].may_move = state == CHECK_RANK_RUNNING ||
					 state == CHECK_RANK_ABSENT ||
					 state == CHECK_RANK_UNKNOWN;
	}
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < p->num_cohorts; i++) {
			struct check_cohort *cohort = &p->cohorts[i];

			if (!cohort->waiting || cohort->may_move ||
			    !may_come(p, cohort))
				continue;
			cohort->may_move = true;
			changed = true;
		}
	}
}

bool check_picture_init(struct check_picture *p,
			const struct check_board *board)
{
	uint32_t n = board->world_size;

	*p = (struct check_picture){.board = board, .world_size = n};
	p->cohort_of = calloc(n, sizeof *p->cohort_of);
	p->cohorts = calloc(n, sizeof *p->cohorts);
	if (!p->cohort_of || !p->cohorts ||
	    !check_groups_init(&p->groups, board)) {
		check_picture_release(p);
		return false;
	}
	for (uint32_t rank = 0; rank < n; rank++)
		classify(p, rank);
	find_movable(p);
	return true;
}

void check_picture_release(struct check_picture *p)
{
	free(p->cohort_of);
	free(p->cohorts);
	check_groups_release(&p->groups);
	p->cohort_of = NULL;
	p->cohorts = NULL;
}
