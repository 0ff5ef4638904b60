/*
 * hold.c - calls that returned a handle for which the rank has not waited yet.
 *
 * A held call that leaves the ring moves to slot->kept. If that is in use, the
 * slot only counts such calls.
 */
#include "check/record.h"

void check_hold(struct check_slot *slot, uint32_t number)
{
	struct check_call *call = &slot->ring[check_ring_place(slot, number)];

	call->held = CHECK_HELD;
	slot->held++;
}

/* Lets go of *call, if it is held. */
static void let_go(struct check_slot *slot, struct check_call *call)
{
	slot->held -= call->held != 0;
	call->held = 0;
	if (call == &slot->kept)
		call->number = 0;
}

void check_release(struct check_slot *slot, uint32_t number)
{
	struct check_call *call = &slot->ring[check_ring_place(slot, number)];

	if (call->number == number)
		let_go(slot, call);
	else if (slot->kept.number == number)
		let_go(slot, &slot->kept);
}

void check_give_away(struct check_slot *slot, uint32_t number)
{
	struct check_call *call = &slot->ring[check_ring_place(slot, number)];

	if (slot->kept.number == number)
		call = &slot->kept;
	if (call->number == number && call->held)
		call->held = CHECK_GIVEN_AWAY;
}

/* Lets go of *call if it is a collective that was complete before `seen`. */
static void let_go_before(struct check_slot *slot, struct check_call *call,
			  const struct check_call *seen)
{
	if (call->held && call->tag < 0 && call->group_id == seen->group_id &&
	    call->index <= seen->index)
		let_go(slot, call);
}

void check_seen(struct check_slot *slot, uint32_t number)
{
	const struct check_call *call = check_call_find(slot, number);
	struct check_call seen;
	uint32_t in_ring = 0;

	if (slot->held == 0)
		return;
	if (!call && slot->kept.number == number)
		call = &slot->kept;
	if (!call) {
		/* Forgotten, with its place: nobody is accused. */
		let_go(slot, &slot->kept);
		return;
	}
	seen = *call;
	check_release(slot, number);
	if (seen.tag >= 0)
		return;
	for (uint32_t i = 0; i < check_ring(slot); i++) {
		let_go_before(slot, &slot->ring[i], &seen);
		in_ring += slot->ring[i].held != 0;
	}
	if (slot->held > in_ring) /* else the page of kept is not touched */
		let_go_before(slot, &slot->kept, &seen);
}
