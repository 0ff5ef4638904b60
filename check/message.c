#include "check/message.h"

#include <string.h>

bool check_from_any(const struct check_call *call)
{
	return call->tag >= 0 && call->peer < 0;
}

int32_t check_other_end(const struct check_call *call)
{
	return check_from_any(call) ? call->source : call->peer_rank;
}

static bool same_kind(const struct check_call *a, const struct check_call *b)
{
	return b->state != CHECK_CALL_NONE && a->tag == b->tag &&
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

/* Whether peer has called the other end of call, which rank waits in. The
 * indices tell, and if the ring has forgotten that end, how many there were;
 * where an index is missing, the number of calls does; and when the rings have
 * forgotten some, a single one. */
static bool answered_by(const struct check_board *board, uint32_t rank,
			const struct check_call *call, uint32_t peer)
{
	const struct check_slot *other = &board->slots[peer];
	uint32_t answers = check_answers(other, rank, call);
	bool guess = call->index == CHECK_INDEX_UNKNOWN, failed = false;
	uint32_t theirs = 0;

	for (uint32_t i = 0; i < check_ring(other); i++) {
		const struct check_call *b = &other->ring[i];

		if (!check_is_counterpart(call, rank, b))
			continue;
		if (b->state == CHECK_CALL_FAILED) {
			failed |= b->index >= call->index;
			continue;
		}
		theirs++;
		if (b->index == CHECK_INDEX_UNKNOWN)
			guess = true;
		else if (!guess && b->index >= call->index)
			return true;
	}
	if (!guess)
		return !failed && answers != CHECK_INDEX_UNKNOWN &&
		       answers > call->index;
	if (check_dropped(other) || check_dropped(&board->slots[rank]))
		return theirs > 0;
	return theirs > count_over(&board->slots[rank], call, peer);
}

bool check_is_answered(const struct check_board *board,
		       const struct check_group *group, uint32_t rank)
{
	const struct check_slot *slot = &board->slots[rank];
	const struct check_call *call = check_call_find(slot, slot->waiting);

	if (slot->state != CHECK_RANK_WAITING || !call || call->tag < 0)
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
