#include "check/disagreement.h"

#include <stdlib.h>
#include <string.h>

#include "check/message.h"
#include "lockstep/types.h"

/* Of pairs of ranks that have none in common; -1: that still may. */
#define NO_RANK (-2)

bool check_may_differ(const struct check_call *call)
{
	return strcmp(call->op, "all_to_all") == 0;
}

bool check_same_call(const struct check_call *a, const struct check_call *b)
{
	bool same_numel = a->numel == b->numel || check_may_differ(a);

	return same_numel && a->peer == b->peer && a->terms == b->terms &&
	       strcmp(a->op, b->op) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
	       strcmp(a->reduce_op, b->reduce_op) == 0;
}

/* ---- collectives ------------------------------------------------------ */

const struct check_call *check_counterpart(const struct check_slot *slot,
					   const struct check_call *like)
{
	const struct check_call *newest = NULL;

	for (uint32_t i = 0; i < check_ring(slot); i++) {
		const struct check_call *call = &slot->ring[i];

		if (call->state != CHECK_CALL_NONE &&
		    check_same_collective(call, like) &&
		    (!newest || call->number > newest->number))
			newest = call;
	}
	return newest;
}

uint32_t check_count_like(const struct check_board *board,
			  const struct check_group *group,
			  const struct check_call *like)
{
	const struct check_call *call;
	uint32_t n = 0;

	for (uint32_t i = 0; i < group->num_members; i++) {
		call = check_counterpart(
			&board->slots[check_group_member(group, i)], like);
		n += call && check_same_call(call, like);
	}
	return n;
}

static bool disagree_at(const struct check_board *board,
			const struct check_group *group,
			const struct check_call *place,
			struct check_disagreement *found)
{
	const struct check_call *first = NULL, *call = NULL;
	uint32_t rank = 0, rank_first = 0, i;

	for (i = 0; i < group->num_members; i++) {
		rank = check_group_member(group, i);
		call = check_counterpart(&board->slots[rank], place);
		if (!call || (first && check_same_call(first, call)))
			continue;
		if (first)
			break;
		first = call;
		rank_first = rank;
	}
	if (i == group->num_members)
		return false;
	*found = (struct check_disagreement){.group = group,
					     .a = call,
					     .b = first,
					     .rank_a = rank,
					     .rank_b = rank_first};
	if (check_count_like(board, group, first) <
	    check_count_like(board, group, call))
		*found = (struct check_disagreement){.group = group,
						     .a = first,
						     .b = call,
						     .rank_a = rank_first,
						     .rank_b = rank};
	return true;
}

/* The next place, from place on, at which a member recorded a collective;
 * UINT32_MAX: there is none. */
static uint32_t next_recorded(const struct check_board *board,
			      const struct check_group *group,
			      const struct check_call *place)
{
	uint32_t next = UINT32_MAX;

	for (uint32_t i = 0; i < group->num_members; i++) {
		const struct check_slot *slot =
			&board->slots[check_group_member(group, i)];

		for (uint32_t j = 0; j < check_ring(slot); j++) {
			struct check_call like = *place;

			like.index = slot->ring[j].index;
			if (like.index >= place->index && like.index < next &&
			    slot->ring[j].state != CHECK_CALL_NONE &&
			    check_same_collective(&slot->ring[j], &like))
				next = like.index;
		}
	}
	return next;
}

static bool disagree_in_group(const struct check_board *board,
			      const struct check_group *group,
			      struct check_disagreement *found)
{
	struct check_call place = {
		.group_id = group->id, .leader = group->leader, .tag = -1};
	uint32_t low = UINT32_MAX, high = 0;

	place.generation = check_group_generation(group, board);
	for (uint32_t i = 0; i < group->num_members; i++) {
		uint32_t rank = check_group_member(group, i);
		uint32_t n = check_collectives(&board->slots[rank], group->id,
					       place.generation);

		if (n > high && n < UINT32_MAX)
			high = n;
		if (n < low)
			low = n;
	}
	place.index = low > CHECK_RING ? low - CHECK_RING : 0;
	while (place.index < high) {
		if (disagree_at(board, group, &place, found))
			return true;
		/* Who is far behind leaves a gap of which nobody has records.
		 */
		place.index++;
		if (high - low > 2 * CHECK_RING)
			place.index = next_recorded(board, group, &place);
	}
	return false;
}

/* ---- parts of an all-to-all -------------------------------------------- */

/* The call of group that parts of the rank are of; NULL: they are of none. */
static const struct check_call *call_of_parts(const struct check_slot *slot,
					      const struct check_parts *parts,
					      const struct check_group *group)
{
	const struct check_call *call = check_call_find(slot, parts->number);

	return call && call->group_id == group->id &&
			       call->leader == group->leader &&
			       parts->count == group->num_members
		       ? call
		       : NULL;
}

/* Ranks a and b are one more pair: found->common becomes, or stays, the one
 * rank that is in all pairs so far, if there is one. */
static void note_common(struct check_disagreement *found, uint32_t a,
			uint32_t b)
{
	bool has_a = found->rank_a == a || found->rank_a == b;
	bool has_b = found->rank_b == a || found->rank_b == b;

	if (found->common == NO_RANK)
		return;
	if (found->common < 0 && has_a != has_b)
		found->common = has_a ? found->rank_a : found->rank_b;
	else if ((!has_a && !has_b) ||
		 (found->common >= 0 && found->common != a &&
		  found->common != b))
		found->common = NO_RANK;
}

/* Looks at what rank a sends to rank b by these parts of theirs. */
static void compare_parts(struct check_disagreement *found, uint32_t a,
			  const struct check_call *sends,
			  const struct check_parts *from, uint32_t b,
			  const struct check_call *awaits,
			  const struct check_parts *to)
{
	uint32_t sent, wanted;

	if (!sends || !awaits || !check_same_collective(sends, awaits))
		return;
	sent = from->in[to->rank];
	wanted = to->out[from->rank];
	if (sent == wanted)
		return;
	if (!found->pair) {
		*found = (struct check_disagreement){.group = found->group,
						     .a = sends,
						     .b = awaits,
						     .rank_a = a,
						     .rank_b = b,
						     .pair = true,
						     .sends = from,
						     .awaits = to,
						     .sent = sent,
						     .wanted = wanted,
						     .common = -1};
	} else if (check_same_collective(sends, found->a)) {
		found->other_pairs++;
		note_common(found, a, b);
	}
}

/* The same of their last two all-to-alls: one that was not hit by a wrong
 * length may have gone on to the next. */
static void compare_pair(const struct check_board *board, uint32_t a,
			 uint32_t b, struct check_disagreement *found)
{
	const struct check_slot *from = &board->slots[a],
				*to = &board->slots[b];
	const struct check_parts *sent[] = {&from->parts_before, &from->parts};
	const struct check_parts *wanted[] = {&to->parts_before, &to->parts};

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			compare_parts(
				found, a,
				call_of_parts(from, sent[i], found->group),
				sent[i], b,
				call_of_parts(to, wanted[j], found->group),
				wanted[j]);
}

static bool disagree_in_parts(const struct check_board *board,
			      const struct check_group *group,
			      struct check_disagreement *found)
{
	uint32_t n = group->num_members;

	*found = (struct check_disagreement){.group = group};
	for (uint32_t i = 0; n <= CHECK_PARTS && i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			compare_pair(board, check_group_member(group, i),
				     check_group_member(group, j), found);
	if (found->common < 0)
		found->common = -1;
	return found->pair;
}

/* ---- messages --------------------------------------------------------- */

/* Whether a and b, which may be the two ends of a message, are those of one and
 * differ in size or type. guess: also where the rings have forgotten how many
 * there were before. */
static bool contradict(const struct check_call *a, const struct check_call *b,
		       bool guess)
{
	if (a->numel == b->numel && strcmp(a->dtype, b->dtype) == 0 &&
	    a->terms == b->terms)
		return false;
	if (a->index != CHECK_INDEX_UNKNOWN && b->index != CHECK_INDEX_UNKNOWN)
		return a->index == b->index;
	return guess &&
	       (a->error == DIST_ERR_MISMATCH || b->state != CHECK_CALL_DONE ||
		b->ended_ns >= a->issued_ns);
}

/* The other end of a, a call of rank, if the two differ in size or type. How
 * many messages were before shows which it is; for one that rank waits with, a
 * guess will do. */
static const struct check_call *
contradiction_of(const struct check_board *board, uint32_t rank,
		 const struct check_call *a)
{
	const struct check_slot *slot = &board->slots[rank], *other;
	bool waits =
		slot->state == CHECK_RANK_WAITING && slot->waiting == a->number;
	uint32_t peer = (uint32_t)check_other_end(a);

	if (a->tag < 0 || peer >= board->world_size ||
	    (!waits && a->state != CHECK_CALL_ISSUED))
		return NULL;
	other = &board->slots[peer];
	for (uint32_t i = 0; i < check_ring(other); i++) {
		const struct check_call *b = &other->ring[i];

		if (check_is_counterpart(a, rank, b) && contradict(a, b, waits))
			return b;
	}
	return NULL;
}

/* A message of which the two ends differ in size or type. */
static bool disagree_in_message(const struct check_board *board,
				struct check_disagreement *found)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		for (uint32_t i = 0; i < check_ring(slot); i++) {
			const struct check_call *a = &slot->ring[i], *b;

			if (a->state == CHECK_CALL_NONE)
				continue;
			b = contradiction_of(board, rank, a);
			if (!b)
				continue;
			*found = (struct check_disagreement){
				.a = a,
				.b = b,
				.rank_a = rank,
				.rank_b = (uint32_t)check_other_end(a)};
			return true;
		}
	}
	return false;
}

/* ---- groups that are asked for by number -------------------------------- */

struct asked {
	const struct check_call *call;
	uint32_t rank;
};

static int by_number(const void *a, const void *b)
{
	const struct asked *left = a, *right = b;
	const struct check_call *x = left->call, *y = right->call;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* All that ranks asked for, by number; NULL: nothing, or no memory. The caller
 * frees it. */
static struct asked *list_asked(const struct check_board *board, size_t *count)
{
	struct asked *all;
	size_t n = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		n += check_num_made(&board->slots[rank]);
	all = n ? calloc(n, sizeof *all) : NULL;
	*count = 0;
	for (uint32_t rank = 0; all && rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		for (uint32_t i = 0; i < check_num_made(slot); i++)
			if (slot->made[i].number && *count < n)
				all[(*count)++] =
					(struct asked){&slot->made[i], rank};
	}
	if (all)
		qsort(all, *count, sizeof *all, by_number);
	return all;
}

/* Ranks that ask for other groups by one number meet under it, but if each of
 * these has one rank alone. */
static bool disagree_in_number(const struct check_board *board,
			       struct check_disagreement *found)
{
	const struct asked *first = NULL, *large = NULL, *one;
	struct asked *all;
	size_t count;

	*found = (struct check_disagreement){.made = false};
	all = list_asked(board, &count);
	for (size_t i = 0; i < count && !found->made; i++) {
		one = &all[i];
		if (!first || one->call->index != first->call->index ||
		    one->call->generation != first->call->generation) {
			first = one;
			large = NULL;
		}
		if (!large && one->call->numel > 1)
			large = one;
		if (!large)
			continue;
		if (one->call->terms == large->call->terms)
			one = first;
		if (one->call->terms == large->call->terms)
			continue;
		*found = (struct check_disagreement){.made = true,
						     .a = one->call,
						     .b = large->call,
						     .rank_a = one->rank,
						     .rank_b = large->rank};
	}
	free(all);
	return found->made;
}

/* ---- either ----------------------------------------------------------- */

/* When it came to be: with the later of both calls. */
static int64_t since(const struct check_disagreement *d)
{
	return d->a->issued_ns > d->b->issued_ns ? d->a->issued_ns
						 : d->b->issued_ns;
}

/* Keeps next if there is none yet, or a later one. */
static void keep_first(struct check_disagreement *found,
		       const struct check_disagreement *next)
{
	if (!found->a || since(next) < since(found))
		*found = *next;
}

bool check_disagree(const struct check_board *board,
		    const struct check_groups *groups,
		    struct check_disagreement *found)
{
	struct check_disagreement next;

	(void)disagree_in_number(board, found);
	for (size_t i = 0; i < groups->count; i++) {
		if (disagree_in_group(board, &groups->all[i], &next))
			keep_first(found, &next);
		if (disagree_in_parts(board, &groups->all[i], &next))
			keep_first(found, &next);
	}
	if (disagree_in_message(board, &next))
		keep_first(found, &next);
	return found->a != NULL;
}

/* The collective of slot that failed by a mismatch; NULL: none. */
static const struct check_call *
failed_by_mismatch(const struct check_slot *slot)
{
	for (uint32_t i = 0; i < check_ring(slot); i++) {
		const struct check_call *call = &slot->ring[i];

		if (call->state == CHECK_CALL_FAILED && call->tag < 0 &&
		    call->error == DIST_ERR_MISMATCH)
			return call;
	}
	return NULL;
}

const struct check_call *check_unequal_parts(const struct check_board *board,
					     uint32_t *rank)
{
	const struct check_call *call = NULL;

	for (*rank = 0; *rank < board->world_size; ++*rank) {
		call = failed_by_mismatch(&board->slots[*rank]);
		if (call)
			break;
	}
	return call;
}
