/*
 * mend.c - makes records that another process wrote safe to judge.
 *
 * A rank may write anywhere in its memory, so nothing on a board is trusted:
 * indices, lengths, enums and texts are checked in a private copy. A record
 * that a rank is about to write is no damage: related fields are not compared
 * with each other.
 */
#include <stdbool.h>
#include <string.h>

#include "check/dump_fields.h"
#include "check/record.h"

static void mend_parts(struct check_parts *parts)
{
	if (parts->count > CHECK_PARTS || parts->rank >= parts->count)
		parts->number = parts->count = 0;
}

static bool mend(struct check_slot *slot, uint32_t world_size)
{
	const uint32_t state = slot->state;
	bool good;

	mend_parts(&slot->parts);
	mend_parts(&slot->parts_before);
	/* That a rank is not known is no state that a rank may write. */
	if (state == CHECK_RANK_UNKNOWN)
		slot->state = CHECK_RANK_ABSENT;
	good = !slot->damaged && slot->calls < UINT32_MAX &&
	       (slot->short_ring == 0 ||
		slot->short_ring == CHECK_RING_SHORT) &&
	       check_fields_mend(check_slot_fields, slot, world_size);
	slot->state = state;
	for (uint32_t i = 0; good && i < CHECK_RING; i++)
		good = check_fields_mend(check_call_fields, &slot->ring[i],
					 world_size);
	return good;
}

int check_slot_mend(struct check_slot *slot, uint32_t world_size)
{
	if (mend(slot, world_size))
		return 1;
	memset(slot, 0, sizeof *slot);
	slot->state = CHECK_RANK_UNKNOWN;
	slot->damaged = 1;
	return 0;
}

uint32_t check_damaged(const struct check_board *board, uint32_t from)
{
	while (from < board->world_size && !board->slots[from].damaged)
		from++;
	return from;
}
