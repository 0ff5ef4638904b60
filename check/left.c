#include "check/left.h"

#include <string.h>

#include "check/message.h"

/* Whether rank's message `sent`, number sent->index of its kind, has had no
 * receive. */
static bool is_left(const struct check_board *board, uint32_t rank,
		    const struct check_call *sent)
{
	const struct check_slot *to;
	uint32_t received = 0;

	if (strcmp(sent->op, "send") != 0 || sent->tag < 0 ||
	    sent->state == CHECK_CALL_NONE ||
	    sent->state == CHECK_CALL_FAILED ||
	    sent->index == CHECK_INDEX_UNKNOWN ||
	    (uint32_t)sent->peer_rank >= board->world_size)
		return false;
	to = &board->slots[sent->peer_rank];
	if (to->state != CHECK_RANK_FINISHED || check_dropped(to) > 0)
		return false;
	for (uint32_t i = 0; i < check_ring(to); i++) {
		const struct check_call *call = &to->ring[i];

		if (!check_is_counterpart(sent, rank, call))
			continue;
		if (check_from_any(call) && call->source < 0)
			return false;
		received++;
	}
	return received <= sent->index;
}

/* Counts one more that is left behind; the first is remembered. */
static void count(struct check_left *left, enum check_left_kind kind,
		  const struct check_call *call, uint32_t rank)
{
	if (left->call)
		left->others++;
	else
		*left = (struct check_left){kind, call, rank, 0};
}

static void find_messages(const struct check_board *board,
			  struct check_left *left)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		for (uint32_t i = 0; i < check_ring(slot); i++)
			if (is_left(board, rank, &slot->ring[i]))
				count(left, CHECK_LEFT_MESSAGE, &slot->ring[i],
				      rank);
	}
}

/* Whether what the rank did not wait for counts: it has ended well. */
static bool is_accountable(const struct check_slot *slot)
{
	if (slot->state != CHECK_RANK_FINISHED)
		return false;
	for (uint32_t i = 0; i < check_ring(slot); i++)
		if (slot->ring[i].state == CHECK_CALL_FAILED)
			return false;
	return true;
}

const struct check_call *check_next_held(const struct check_slot *slot,
					 uint32_t number)
{
	uint32_t forgotten = check_dropped(slot);

	if (slot->held == 0 || !is_accountable(slot))
		return NULL;
	if (slot->kept.number > number)
		return &slot->kept;
	if (number < forgotten)
		number = forgotten;
	while (number < slot->calls) {
		const struct check_call *call = check_call_find(slot, ++number);

		if (call && call->held)
			return call;
	}
	return NULL;
}

static void find_handles(const struct check_board *board,
			 struct check_left *left)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		const struct check_call *call = check_next_held(slot, 0);

		for (; call; call = check_next_held(slot, call->number))
			count(left, CHECK_LEFT_HANDLE, call, rank);
	}
}

bool check_find_left(const struct check_board *board, struct check_left *left)
{
	*left = (struct check_left){.call = NULL};
	find_messages(board, left);
	if (!left->call)
		find_handles(board, left);
	return left->call != NULL;
}
