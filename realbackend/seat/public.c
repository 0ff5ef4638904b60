/* public.c - the calls of lockstep/seat.h, except the store's. */

#include "lockstep/seat.h"
#include "realbackend/seat/slot.h"

bool dist_seat_is_taken(void)
{
	return dist__seat_open(NULL) == DIST_OK;
}

int64_t dist_seat_now_ns(void)
{
	if (!dist_seat_is_taken())
		return -1;
	dist__seat_owe(DIST_SEAT_LOOK_NS);
	return dist__seat_now_ns();
}

enum dist_error dist_seat_pass(int64_t duration_ns)
{
	struct dist__seat_slot *seat;
	enum dist_error error;

	if (duration_ns < 0)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!dist_seat_is_taken())
		return DIST_ERR_UNAVAILABLE;
	seat = dist__seat_begin();
	seat->time_ns = duration_ns;
	error = dist__seat_ask(seat, DIST__SEAT_SLEEP);
	dist__seat_end();
	return error;
}

int dist_seat_ranks(void)
{
	const struct dist__seat_head *head = dist__seat_find();

	return head ? head->present : -1;
}

enum dist_error dist_seat_reap(const pid_t *pids)
{
	struct dist__seat_head *head = dist__seat_find();

	if (!pids)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!head)
		return DIST_ERR_UNAVAILABLE;
	(void)dist__seat_reap(head, pids);
	return DIST_OK;
}
