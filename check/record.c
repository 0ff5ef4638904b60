#include "check/record.h"

#include <string.h>

#define BOARD_MAGIC   UINT32_C(0x4c535442) /* "LSTB" */
#define BOARD_VERSION 1

size_t check_board_bytes(uint32_t world_size)
{
	return sizeof(struct check_board) +
	       (size_t)world_size * sizeof(struct check_slot);
}

void check_board_init(struct check_board *board, uint32_t world_size)
{
	board->magic = BOARD_MAGIC;
	board->version = BOARD_VERSION;
	board->world_size = world_size;
	board->slot_bytes = sizeof(struct check_slot);
}

int check_board_valid(const struct check_board *board, size_t bytes)
{
	return bytes >= sizeof *board && board->magic == BOARD_MAGIC &&
	       board->version == BOARD_VERSION &&
	       board->slot_bytes == sizeof(struct check_slot) &&
	       bytes >= check_board_bytes(board->world_size);
}

void check_site_set(struct check_site *site, const char *file, int line)
{
	size_t len = file ? strlen(file) : 0;

	if (len >= sizeof site->file) {
		file += len - (sizeof site->file - 1);
		len = sizeof site->file - 1;
	}
	if (len)
		memcpy(site->file, file, len);
	site->file[len] = '\0';
	site->line = line;
}

static struct check_call *entry(struct check_slot *slot, uint32_t number)
{
	return &slot->ring[(number - 1) % CHECK_RING];
}

/* The rank's progress in a group; NULL for the groups past CHECK_GROUPS, which
 * nobody is accused of missing. */
static struct check_progress *progress_of(struct check_slot *slot,
					  uint32_t group_id)
{
	struct check_progress *fresh;

	for (uint32_t i = 0; i < slot->groups; i++)
		if (slot->progress[i].group_id == group_id)
			return &slot->progress[i];
	if (slot->groups == CHECK_GROUPS)
		return NULL;
	fresh = &slot->progress[slot->groups++];
	fresh->group_id = group_id;
	fresh->collectives = 0;
	return fresh;
}

uint32_t check_issue(struct check_slot *slot, const struct check_call *call)
{
	uint32_t number = slot->calls + 1;
	struct check_call *kept = entry(slot, number);
	struct check_progress *progress;

	*kept = *call;
	kept->number = number;
	kept->state = CHECK_CALL_ISSUED;
	slot->calls = number;
	if (call->tag < 0) {
		progress = progress_of(slot, call->group_id);
		if (progress)
			progress->collectives = call->index + 1;
	}
	return number;
}

void check_wait(struct check_slot *slot, uint32_t number,
		const struct check_site *site)
{
	if (site)
		slot->wait_site = *site;
	else
		slot->wait_site.file[0] = '\0';
	slot->waiting = number;
	slot->state = CHECK_RANK_WAITING;
}

void check_resume(struct check_slot *slot)
{
	slot->state = CHECK_RANK_RUNNING;
	slot->waiting = 0;
}

void check_end(struct check_slot *slot, uint32_t number, int32_t error,
	       int64_t now_ns)
{
	struct check_call *call = entry(slot, number);

	if (call->number != number)
		return;
	call->state = error ? CHECK_CALL_FAILED : CHECK_CALL_DONE;
	call->error = error;
	call->ended_ns = now_ns;
}

const struct check_call *check_call_find(const struct check_slot *slot,
					 uint32_t number)
{
	const struct check_call *call;

	if (number == 0)
		return NULL;
	call = &slot->ring[(number - 1) % CHECK_RING];
	return call->number == number ? call : NULL;
}

uint32_t check_collectives(const struct check_slot *slot, uint32_t group_id)
{
	for (uint32_t i = 0; i < slot->groups; i++)
		if (slot->progress[i].group_id == group_id)
			return slot->progress[i].collectives;
	return slot->groups == CHECK_GROUPS ? UINT32_MAX : 0;
}
