/*
 * hold.c - which calls gave the rank a handle that it has not waited for yet.
 *
 * A call that is held and leaves the ring is kept beside it, one at a time; of
 * further ones the slot forgets all but that there were some.
 */
#include "check/record.h"

void check_hold(struct check_slot *slot, uint32_t number)
{
	struct check_call *call = &slot->ring[check_ring_place(slot, number)];

	call->held = 1;
	slot->held++;
}

/* Lets go of *call, if it is held. */
static void let_go(struct check_slot *slot, struct check_call *call)
{
	slot->held -= call->held;
	call->held = 0;
	if (call == &slot->kept)
		call->number = 0;
}

void check_release(struct check_slot *slot, uint32_t number)
{
	struct check_call *call = &slot->ring[check_ring_place(slot, number)];

	if (slot->kept.number == number)
		let_go(slot, &slot->kept);
	else if (call->number == number)
		let_go(slot, call);
}

/* Lets go of *call if it is a collective complete before `told`. */
static void let_go_before(struct check_slot *slot, struct check_call *call,
			  const struct check_call *told)
{
	if (call->held && call->tag < 0 && call->group_id == told->group_id &&
	    call->index <= told->index)
		let_go(slot, call);
}

void check_tell(struct check_slot *slot, uint32_t number)
{
	const struct check_call *call = check_call_find(slot, number);
	struct check_call told;

	if (slot->held == 0)
		return;
	if (!call && slot->kept.number == number)
		call = &slot->kept;
	if (!call) {
		/* Forgotten, with its place: nobody is accused. */
		let_go(slot, &slot->kept);
		return;
	}
	told = *call;
	check_release(slot, number);
	if (told.tag >= 0)
		return;
	let_go_before(slot, &slot->kept, &told);
	for (uint32_t i = 0; i < check_ring(slot); i++)
		let_go_before(slot, &slot->ring[i], &told);
}
