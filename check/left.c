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
	if (to->state != CHECK_RANK_FINISHED || to->calls > CHECK_RING)
		return false;
	for (int i = 0; i < CHECK_RING; i++) {
		const struct check_call *call = &to->ring[i];

		if (!check_is_counterpart(sent, rank, call))
			continue;
		if (check_from_any(call) && call->source < 0)
			return false;
		received++;
	}
	return received <= sent->index;
}

bool check_find_left(const struct check_board *board, struct check_left *left)
{
	*left = (struct check_left){.call = NULL};
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		for (int i = 0; i < CHECK_RING; i++) {
			const struct check_call *call =
				&board->slots[rank].ring[i];

			if (!is_left(board, rank, call))
				continue;
			if (left->call)
				left->others++;
			else
				*left = (struct check_left){call, rank, 0};
		}
	return left->call != NULL;
}
