#include "check/message.h"

#include <string.h>

bool check_from_any(const struct check_call *call)
{
	return check_is_message(call) && call->peer < 0;
}

bool check_is_from_one(const struct check_call *call)
{
	return check_from_any(call) || call->tag == CHECK_TAG_STORE;
}

int32_t check_other_end(const struct check_call *call)
{
	return check_from_any(call) ? call->source : call->peer_rank;
}

static bool same_kind(const struct check_call *a, const struct check_call *b)
{
	return b->state != CHECK_CALL_NONE && b->state != CHECK_CALL_QUEUED &&
	       check_is_message(b) && a->tag == b->tag &&
	       a->group_id == b->group_id && a->generation == b->generation;
}

bool check_is_counterpart(const struct check_call *a, uint32_t rank,
			  const struct check_call *b)
{
	if (!same_kind(a, b) || strcmp(a->op, b->op) == 0)
		return false;
	return check_other_end(b) == (int32_t)rank ||
	       (check_from_any(b) && b->source < 0 &&
		b->state == CHECK_CALL_ISSUED);
}

/* Whether b was the other end of a, or would have been had it not failed. */
static bool could_answer(const struct check_call *a, uint32_t rank,
			 const struct check_call *b)
{
	return check_is_counterpart(a, rank, b) ||
	       (b->state == CHECK_CALL_FAILED && check_from_any(b) &&
		b->source < 0 && same_kind(a, b) && strcmp(a->op, b->op) != 0);
}

/* The messages of the kind of call, with peer, that are over on this side. */
static uint32_t count_over(const struct check_slot *slot,
			   const struct check_call *call, uint32_t peer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < check_ring(slot); i++) {
		const struct check_call *a = &slot->ring[i];

		n += a->state == CHECK_CALL_DONE && same_kind(call, a) &&
		     strcmp(a->op, call->op) == 0 &&
		     check_other_end(a) == (int32_t)peer;
	}
	return n;
}

/* Whether peer has called the other end of call, which rank waits in, whatever
 * became of it: two ends that run out of time did not wait for each other in a
 * cycle.
 *
 * A message with an index is found by it in peer's ring, or is one of those
 * that peer has counted. Without an index, peer has to have made more such
 * calls than rank has finished; if a ring has dropped calls, one is enough. */
static bool answered_by(const struct check_board *board, uint32_t rank,
			const struct check_call *call, uint32_t peer)
{
	const struct check_slot *other = &board->slots[peer];
	uint32_t answers = check_answers(other, rank, call);
	bool guess = call->index == CHECK_INDEX_UNKNOWN;
	uint32_t theirs = 0;

	for (uint32_t i = 0; i < check_ring(other); i++) {
		const struct check_call *b = &other->ring[i];

		if (!could_answer(call, rank, b))
			continue;
		theirs++;
		if (b->index == CHECK_INDEX_UNKNOWN)
			guess = true;
		else if (!guess && b->index >= call->index)
			return true;
	}
	if (!guess)
		return answers == CHECK_INDEX_UNKNOWN ? check_dropped(other) > 0
						      : answers > call->index;
	if (check_dropped(other) || check_dropped(&board->slots[rank]))
		return theirs > 0;
	return theirs > count_over(&board->slots[rank], call, peer);
}

bool check_is_answered(const struct check_board *board,
		       const struct check_group *group, uint32_t rank)
{
	const struct check_slot *slot = &board->slots[rank];
	const struct check_call *call = check_call_find(slot, slot->waiting);

	if (slot->state != CHECK_RANK_WAITING || !call ||
	    !check_is_message(call))
		return false;
	if (!check_from_any(call))
		return (uint32_t)call->peer_rank < board->world_size &&
		       answered_by(board, rank, call,
				   (uint32_t)call->peer_rank);
	for (uint32_t i = 0; group && i < group->num_members; i++) {
		uint32_t peer = check_group_member(group, i);

		if (peer != rank && answered_by(board, rank, call, peer))
			return true;
	}
	return false;
}
