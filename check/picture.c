#include "check/picture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The same numbers as DIST_ERR_TIMEOUT and DIST_ERR_MISMATCH: check/ does not
 * include dist.h. */
enum { ERROR_TIMEOUT = -5, ERROR_MISMATCH = -6 };

static bool same_site(const struct check_site *a, const struct check_site *b)
{
	return a->line == b->line && strcmp(a->file, b->file) == 0;
}

bool check_may_differ(const struct check_call *call)
{
	return strcmp(call->op, "all_to_all") == 0;
}

bool check_same_call(const struct check_call *a, const struct check_call *b)
{
	bool same_numel = a->numel == b->numel || check_may_differ(a);

	return same_numel && a->peer == b->peer && strcmp(a->op, b->op) == 0 &&
	       strcmp(a->dtype, b->dtype) == 0 &&
	       strcmp(a->reduce_op, b->reduce_op) == 0;
}

/* The call that says where the rank is: the one it waits in, else its last. */
static const struct check_call *call_of(const struct check_slot *slot)
{
	bool waiting = slot->state == CHECK_RANK_WAITING;

	return check_call_find(slot, waiting ? slot->waiting : slot->calls);
}

static bool belongs(const struct check_cohort *cohort,
		    const struct check_slot *slot)
{
	const struct check_call *a = cohort->call, *b = call_of(slot);

	assert(cohort->slot);
	if (cohort->slot->state != slot->state || !a != !b)
		return false;
	if (slot->state == CHECK_RANK_WAITING &&
	    !same_site(&cohort->slot->wait_site, &slot->wait_site))
		return false;
	return !a || (check_same_call(a, b) && a->tag == b->tag &&
		      a->group_id == b->group_id && a->index == b->index &&
		      same_site(&a->site, &b->site));
}

static void classify(struct check_picture *p, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];
	struct check_cohort *cohort = p->cohorts;
	uint32_t i;

	for (i = 0; i < p->num_cohorts; i++, cohort++)
		if (belongs(cohort, slot))
			break;
	if (i == p->num_cohorts) {
		p->num_cohorts++;
		*cohort = (struct check_cohort){
			.slot = slot,
			.call = call_of(slot),
			.waiting = slot->state == CHECK_RANK_WAITING,
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

bool check_waits_for(const struct check_picture *p,
		     const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_call *call = cohort->call;

	if (!cohort->waiting || !call)
		return false;
	if (call->tag >= 0)
		return call->peer == (int32_t)rank;
	return rank < call->group_size &&
	       check_collectives(&p->board->slots[rank], call->group_id) <=
		       call->index;
}

static bool all_may_come(const struct check_picture *p,
			 const struct check_cohort *cohort)
{
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		if (check_waits_for(p, cohort, rank) &&
		    !p->cohorts[p->cohort_of[rank]].may_move)
			return false;
	return true;
}

/* The least set of cohorts that may move: those in their own code or not yet
 * here, and those that wait only for such. */
static void find_movable(struct check_picture *p)
{
	bool changed = true;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		uint32_t state = p->cohorts[i].slot->state;

		p->cohorts[i].may_move = state == CHECK_RANK_RUNNING ||
					 state == CHECK_RANK_ABSENT;
	}
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < p->num_cohorts; i++) {
			struct check_cohort *cohort = &p->cohorts[i];

			if (!cohort->waiting || cohort->may_move ||
			    !all_may_come(p, cohort))
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
	if (!p->cohort_of || !p->cohorts) {
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
	p->cohort_of = NULL;
	p->cohorts = NULL;
}

void check_print_ranks(FILE *out, uint32_t world_size,
		       bool (*has)(const void *arg, uint32_t rank),
		       const void *arg)
{
	uint32_t count = 0, rank, last;
	const char *separator = " ";

	for (rank = 0; rank < world_size; rank++)
		count += has(arg, rank);
	fputs(count == 1 ? "rank" : "ranks", out);
	for (rank = 0; rank < world_size; rank++) {
		if (!has(arg, rank))
			continue;
		for (last = rank; last + 1 < world_size && has(arg, last + 1);)
			last++;
		fprintf(out, "%s%u", separator, rank);
		if (last > rank)
			fprintf(out, "-%u", last);
		separator = ",";
		rank = last;
	}
	if (count > 1)
		fprintf(out, " (%u)", count);
}

const struct check_call *check_collective_at(const struct check_slot *slot,
					     uint32_t index)
{
	for (int i = 0; i < CHECK_RING; i++) {
		const struct check_call *call = &slot->ring[i];

		if (call->state != CHECK_CALL_NONE && call->tag < 0 &&
		    call->group_id == 0 && call->index == index)
			return call;
	}
	return NULL;
}

/* Ranks that hold the same call as `like` at index. */
static uint32_t count_like(const struct check_board *board, uint32_t index,
			   const struct check_call *like)
{
	const struct check_call *call;
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		call = check_collective_at(&board->slots[rank], index);
		n += call && check_same_call(call, like);
	}
	return n;
}

static bool disagree_at(const struct check_board *board, uint32_t index,
			struct check_disagreement *found)
{
	const struct check_call *first = NULL, *call = NULL;
	uint32_t rank, rank_first = 0;

	for (rank = 0; rank < board->world_size; rank++) {
		call = check_collective_at(&board->slots[rank], index);
		if (!call || (first && check_same_call(first, call)))
			continue;
		if (first)
			break;
		first = call;
		rank_first = rank;
	}
	if (rank == board->world_size)
		return false;
	*found = (struct check_disagreement){index, call, first, rank,
					     rank_first};
	if (count_like(board, index, first) < count_like(board, index, call))
		*found = (struct check_disagreement){index, first, call,
						     rank_first, rank};
	return true;
}

/* A message of which the two ends differ in size or type. */
static bool disagree_in_message(const struct check_board *board,
				struct check_disagreement *found)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank], *other;
		const struct check_call *a = call_of(slot), *b;

		if (slot->state != CHECK_RANK_WAITING || !a || a->tag < 0 ||
		    a->peer < 0 || (uint32_t)a->peer >= board->world_size)
			continue;
		other = &board->slots[a->peer];
		for (int i = 0; i < CHECK_RING; i++) {
			b = &other->ring[i];
			if (b->state == CHECK_CALL_NONE || b->tag != a->tag ||
			    b->peer != (int32_t)rank ||
			    strcmp(a->op, b->op) == 0 ||
			    (a->numel == b->numel &&
			     strcmp(a->dtype, b->dtype) == 0) ||
			    (b->state == CHECK_CALL_DONE &&
			     b->ended_ns < a->issued_ns))
				continue;
			*found = (struct check_disagreement){0, a, b, rank,
							     (uint32_t)a->peer};
			return true;
		}
	}
	return false;
}

bool check_disagree(const struct check_board *board,
		    struct check_disagreement *found)
{
	uint32_t low = UINT32_MAX, high = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		uint32_t n = check_collectives(&board->slots[rank], 0);

		if (n > high)
			high = n;
		if (n < low)
			low = n;
	}
	low = low > CHECK_RING ? low - CHECK_RING : 0;
	for (uint32_t index = low; index < high; index++)
		if (disagree_at(board, index, found))
			return true;
	return disagree_in_message(board, found);
}

const struct check_call *check_unequal_parts(const struct check_board *board,
					     uint32_t *rank)
{
	for (*rank = 0; *rank < board->world_size; ++*rank) {
		const struct check_slot *slot = &board->slots[*rank];
		const struct check_call *call =
			check_call_find(slot, slot->waiting);

		if (call && call->tag < 0 && call->group_id == 0 &&
		    call->state == CHECK_CALL_FAILED &&
		    call->error == ERROR_MISMATCH)
			return call;
	}
	return NULL;
}
