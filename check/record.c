#include "check/record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The same number as DIST_ERR_INVALID_ARGUMENT: check/ does not include
 * dist.h. */
enum { ERROR_ARGUMENT = -1 };

#define BOARD_MAGIC   UINT32_C(0x4c535442) /* "LSTB" */
#define BOARD_VERSION 12

/* A board's head and an allocator's leave so much of a slot's first page. */
#define FIRST_PAGE 4064

_Static_assert(sizeof(struct check_slot) % 4096 == 0 &&
		       offsetof(struct check_slot, ring[CHECK_RING_SHORT]) <=
			       FIRST_PAGE,
	       "the calls of a short ring touch one page a rank");

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
	for (uint32_t r = 0; world_size > CHECK_MANY_RANKS && r < world_size;
	     r++)
		board->slots[r].short_ring = CHECK_RING_SHORT;
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
	size_t len;

	if (file && file[0] == '.' && file[1] == '/')
		file += 2;
	len = file ? strlen(file) : 0;
	if (len >= sizeof site->file) {
		file += len - (sizeof site->file - 1);
		while ((*file & 0xc0) == 0x80) /* no half character */
			file++;
		len = strlen(file);
	}
	if (len)
		memcpy(site->file, file, len);
	site->file[len] = '\0';
	site->line = line;
}

static struct check_call *entry(struct check_slot *slot, uint32_t number)
{
	return &slot->ring[check_ring_place(slot, number)];
}

/* Where the group stands among the rank's memberships; their number if it does
 * not. */
static uint32_t place_of(const struct check_slot *slot, uint32_t group_id)
{
	uint32_t i = 0;

	while (i < slot->groups && slot->memberships[i].group_id != group_id)
		i++;
	return i;
}

const struct check_membership *
check_membership_find(const struct check_slot *slot, uint32_t group_id)
{
	uint32_t i = place_of(slot, group_id);

	return i < slot->groups ? &slot->memberships[i] : NULL;
}

static void enter(struct check_slot *slot, uint32_t group_id, uint32_t leader)
{
	uint32_t i = place_of(slot, group_id);

	if (i == CHECK_GROUPS)
		for (i = 0; i < CHECK_GROUPS && !slot->memberships[i].left;)
			i++;
	if (i == CHECK_GROUPS)
		return;
	slot->memberships[i] =
		(struct check_membership){group_id, leader, 0, 0};
	if (i == slot->groups)
		slot->groups++;
}

void check_join(struct check_slot *slot, uint32_t group_id, uint32_t leader)
{
	if (group_id == 0 && check_membership_find(slot, 0)) {
		slot->groups = slot->kinds = 0;
		slot->generation++;
	}
	enter(slot, group_id, leader);
}

void check_leave(struct check_slot *slot, uint32_t group_id)
{
	uint32_t i = place_of(slot, group_id);

	if (i < slot->groups && slot->state != CHECK_RANK_WAITING)
		slot->memberships[i].left = 1;
}

/* Counts a collective as issued. */
static void advance(struct check_slot *slot, const struct check_call *call)
{
	uint32_t i = place_of(slot, call->group_id);

	if (i == slot->groups) {
		enter(slot, call->group_id, call->leader);
		i = place_of(slot, call->group_id);
	}
	if (i < slot->groups)
		slot->memberships[i].collectives = call->index + 1;
}

static bool is_send(const struct check_call *call)
{
	return strcmp(call->op, "send") == 0;
}

/* The kind of messages that are sent, or received, by group, tag and peer; the
 * number of kinds if there is none. *any: one from any source is among them. */
static uint32_t find_kind(const struct check_slot *slot,
			  const struct check_kind *like, bool *any)
{
	uint32_t found = slot->kinds;

	*any = false;
	for (uint32_t i = 0; i < slot->kinds; i++) {
		const struct check_kind *kind = &slot->kind[i];

		if (kind->group_id != like->group_id ||
		    kind->tag != like->tag || kind->sends != like->sends)
			continue;
		*any |= kind->peer < 0;
		if (kind->peer == like->peer)
			found = i;
	}
	return found;
}

/* Which message of its kind call is, and counts it. Where one was received from
 * any source before, it may have been of each kind. */
static uint32_t index_of_message(struct check_slot *slot,
				 const struct check_call *call)
{
	const struct check_kind like = {
		.group_id = call->group_id,
		.peer = call->peer < 0 ? -1 : call->peer_rank,
		.tag = call->tag,
		.sends = is_send(call)};
	bool any;
	uint32_t i = find_kind(slot, &like, &any);

	if (i == slot->kinds && i < CHECK_KINDS)
		slot->kind[slot->kinds++] = like;
	if (i == CHECK_KINDS || any || call->peer < 0)
		return CHECK_INDEX_UNKNOWN;
	return slot->kind[i].count++;
}

uint32_t check_answers(const struct check_slot *slot, uint32_t rank,
		       const struct check_call *call)
{
	const struct check_kind like = {.group_id = call->group_id,
					.peer = (int32_t)rank,
					.tag = call->tag,
					.sends = !is_send(call)};
	bool any;
	uint32_t i = find_kind(slot, &like, &any);

	if (any || i == CHECK_KINDS || slot->generation != call->generation)
		return CHECK_INDEX_UNKNOWN;
	return i < slot->kinds ? slot->kind[i].count : 0;
}

/* Where the next call goes; the one that it drives out is kept if held. */
static struct check_call *next_entry(struct check_slot *slot)
{
	struct check_call *next = entry(slot, slot->calls + 1);

	if (next->held && !slot->kept.number)
		slot->kept = *next;
	return next;
}

struct check_call *check_draft(struct check_slot *slot)
{
	struct check_call *draft = next_entry(slot);

	memset(draft, 0, sizeof *draft);
	return draft;
}

struct check_call *check_draft_like(struct check_slot *slot,
				    const struct check_call *call)
{
	struct check_call *draft = next_entry(slot);

	*draft = *call;
	return draft;
}

uint32_t check_issue_draft(struct check_slot *slot)
{
	uint32_t number = slot->calls + 1;
	struct check_call *call = entry(slot, number);

	if (call->tag >= 0)
		call->index = index_of_message(slot, call);
	call->source = -1;
	call->generation = slot->generation;
	call->number = number;
	call->state = CHECK_CALL_ISSUED;
	slot->calls = number;
	if (check_is_refused(slot)) /* else leaves its page alone */
		slot->refusal.call.op[0] = '\0';
	if (call->tag < 0)
		advance(slot, call);
	return number;
}

uint32_t check_issue(struct check_slot *slot, const struct check_call *call)
{
	(void)check_draft_like(slot, call);
	return check_issue_draft(slot);
}

void check_refuse(struct check_slot *slot, const char *group, const char *words,
		  const struct check_site *site)
{
	struct check_refusal *refusal = &slot->refusal;
	size_t name = strcspn(words, ":");

	*refusal = (struct check_refusal){.call = {.state = CHECK_CALL_FAILED,
						   .error = ERROR_ARGUMENT,
						   .peer = -1,
						   .peer_rank = -1,
						   .tag = -1,
						   .site = *site}};
	snprintf(refusal->call.op, sizeof refusal->call.op, "%.*s", (int)name,
		 words);
	snprintf(refusal->call.group, sizeof refusal->call.group, "%s", group);
	words += name;
	words += strspn(words, ": ");
	snprintf(refusal->words, sizeof refusal->words, "%s", words);
}

int check_is_refused(const struct check_slot *slot)
{
	return slot->refusal.call.op[0] != '\0';
}

void check_source(struct check_slot *slot, uint32_t number, int32_t source)
{
	struct check_call *call = entry(slot, number);

	if (call->number == number)
		call->source = source;
}

static uint32_t clamp(uint64_t numel)
{
	return numel < UINT32_MAX ? (uint32_t)numel : UINT32_MAX;
}

struct check_parts *check_parts_begin(struct check_slot *slot, int rank,
				      int count)
{
	struct check_parts *parts = &slot->parts;

	parts->number = 0;
	parts->count = (uint32_t)count;
	parts->rank = (uint32_t)rank;
	return count <= CHECK_PARTS ? parts : NULL;
}

void check_part(struct check_parts *parts, int i, uint64_t in, uint64_t out)
{
	parts->in[i] = clamp(in);
	parts->out[i] = clamp(out);
}

/* Whoever reads the board meanwhile finds the parts of no call. */
void check_parts_end(struct check_parts *parts, uint32_t number)
{
	atomic_thread_fence(memory_order_release);
	parts->number = number;
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

void check_limit(struct check_slot *slot, uint32_t number, int64_t timeout_ns)
{
	struct check_call *call = entry(slot, number);

	if (call->number == number)
		call->timeout_ns = timeout_ns;
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

void check_touch(struct check_slot *slot, const struct check_hazard *hazard,
		 uint32_t number, uint32_t other)
{
	const struct check_call *call = check_call_find(slot, number);
	const struct check_call *second = check_call_find(slot, other);

	if (slot->hazard.kind)
		return;
	slot->hazard = *hazard;
	if (call)
		slot->hazard.call = slot->hazard.other = *call;
	if (second)
		slot->hazard.other = *second;
	else
		slot->hazard.other.site = hazard->other.site;
}

const struct check_call *check_call_find(const struct check_slot *slot,
					 uint32_t number)
{
	const struct check_call *call;

	if (number == 0)
		return NULL;
	call = &slot->ring[check_ring_place(slot, number)];
	return call->number == number ? call : NULL;
}

const struct check_call *check_failed_call(const struct check_slot *slot)
{
	uint32_t number = slot->waiting ? slot->waiting : slot->calls;
	const struct check_call *call = check_call_find(slot, number);

	return call && call->state == CHECK_CALL_FAILED ? call : NULL;
}

uint32_t check_collectives(const struct check_slot *slot, uint32_t group_id,
			   uint32_t generation)
{
	const struct check_membership *own =
		check_membership_find(slot, group_id);

	if (slot->generation != generation)
		return slot->generation < generation ? 0 : UINT32_MAX;
	if (own)
		return own->collectives;
	return slot->groups == CHECK_GROUPS ? UINT32_MAX : 0;
}

int check_same_collective(const struct check_call *a,
			  const struct check_call *b)
{
	return a->tag < 0 && b->tag < 0 && a->group_id == b->group_id &&
	       a->leader == b->leader && a->index == b->index &&
	       a->generation == b->generation;
}
