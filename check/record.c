#include "check/record.h"
#include "base/hash.h"
#include "lockstep/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BOARD_MAGIC   UINT32_C(0x4c535442) /* "LSTB" */
#define BOARD_VERSION 24

/* A board's head and an allocator's leave so much of a slot's first page. */
#define FIRST_PAGE 4064

_Static_assert(sizeof(struct check_slot) % 4096 == 0 &&
		       sizeof(struct check_board) == 4096 &&
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
	board->own_job = 0;
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

int check_same_site(const struct check_site *a, const struct check_site *b)
{
	return a->line == b->line && strcmp(a->file, b->file) == 0;
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

uint32_t check_num_memberships(const struct check_slot *slot)
{
	return slot->groups < CHECK_GROUPS_NEAR
		       ? slot->groups
		       : CHECK_GROUPS_NEAR + slot->more_groups;
}

const struct check_membership *
check_membership_at(const struct check_slot *slot, uint32_t i)
{
	return i < CHECK_GROUPS_NEAR ? &slot->memberships[i]
				     : &slot->more[i - CHECK_GROUPS_NEAR];
}

static struct check_membership *at(struct check_slot *slot, uint32_t i)
{
	return i < CHECK_GROUPS_NEAR ? &slot->memberships[i]
				     : &slot->more[i - CHECK_GROUPS_NEAR];
}

/* Where the group stands among the rank's memberships; their number if it does
 * not. */
static uint32_t place_of(const struct check_slot *slot, uint32_t group_id)
{
	const uint32_t num = check_num_memberships(slot);
	uint32_t i = 0;

	while (i < num && check_membership_at(slot, i)->group_id != group_id)
		i++;
	return i;
}

const struct check_membership *
check_membership_find(const struct check_slot *slot, uint32_t group_id)
{
	uint32_t i = place_of(slot, group_id);

	return i < check_num_memberships(slot) ? check_membership_at(slot, i)
					       : NULL;
}

/* Keeps what is known of a group whose place is needed. */
static void retire(struct check_slot *slot, const struct check_membership *was)
{
	slot->past[slot->pasts++ % CHECK_PAST] =
		(struct check_past){*was, slot->generation, slot->failed};
}

static void enter(struct check_slot *slot, uint32_t group_id, uint32_t leader)
{
	const uint32_t num = check_num_memberships(slot);
	uint32_t i = place_of(slot, group_id);

	if (i == CHECK_GROUPS)
		for (i = 0; i < CHECK_GROUPS && !at(slot, i)->left;)
			i++;
	if (i == CHECK_GROUPS)
		return;
	if (i < num)
		retire(slot, at(slot, i));
	*at(slot, i) = (struct check_membership){.group_id = group_id,
						 .leader = leader};
	if (i == num)
		++*(i < CHECK_GROUPS_NEAR ? &slot->groups : &slot->more_groups);
}

void check_join(struct check_slot *slot, uint32_t group_id, uint32_t leader)
{
	if (group_id == 0 && check_membership_find(slot, 0)) {
		for (uint32_t i = 0; i < check_num_memberships(slot); i++)
			retire(slot, at(slot, i));
		slot->groups = slot->more_groups = 0;
		slot->kinds = slot->failed = 0;
		slot->overlooked = 0;
		slot->generation++;
	}
	enter(slot, group_id, leader);
}

void check_leave(struct check_slot *slot, uint32_t group_id)
{
	uint32_t i = place_of(slot, group_id);

	if (i < check_num_memberships(slot) &&
	    slot->state != CHECK_RANK_WAITING && !slot->failed)
		at(slot, i)->left = CHECK_DESTROYED;
}

void check_abort(struct check_slot *slot, uint32_t group_id)
{
	uint32_t i = place_of(slot, group_id);

	if (i < check_num_memberships(slot) && !slot->failed)
		at(slot, i)->left = CHECK_ABORTED;
}

void check_give_up(struct check_slot *slot)
{
	slot->failed = 1;
}

/* Takes a call into the hash of those before it, whose order counts. */
static uint32_t follow(uint32_t trail, uint64_t fingerprint)
{
	uint64_t hash = (trail ^ fingerprint) * DIST__HASH_FACTOR;

	return (uint32_t)(hash >> 32);
}

/* Counts a collective as issued. */
static void advance(struct check_slot *slot, const struct check_call *call)
{
	uint32_t i = place_of(slot, call->group_id);

	if (i == check_num_memberships(slot)) {
		enter(slot, call->group_id, call->leader);
		i = place_of(slot, call->group_id);
	}
	if (i == check_num_memberships(slot))
		return;
	at(slot, i)->collectives = call->index + 1;
	at(slot, i)->trail = follow(at(slot, i)->trail, call->fingerprint);
}

int check_is_send(const struct check_call *call)
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
		.sends = check_is_send(call)};
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
					.sends = !check_is_send(call)};
	bool any;
	uint32_t i = find_kind(slot, &like, &any);

	if (any || i == CHECK_KINDS || slot->generation != call->generation)
		return CHECK_INDEX_UNKNOWN;
	return i < slot->kinds ? slot->kind[i].count : 0;
}

/* Whether call is of the same group as the rank's last one, a collective, that
 * was issued later. */
static bool is_followed(const struct check_slot *slot,
			const struct check_call *call)
{
	const struct check_call *last =
		&slot->ring[check_ring_place(slot, slot->calls)];

	return last != call && last->tag < 0 &&
	       last->group_id == call->group_id &&
	       last->generation == call->generation;
}

/* Whether no other call followed on the group of call, a collective. */
static bool is_last_of_group(const struct check_slot *slot,
			     const struct check_call *call)
{
	const struct check_membership *own =
		check_membership_find(slot, call->group_id);

	return call->number && call->tag < 0 &&
	       call->generation == slot->generation && own &&
	       own->collectives == call->index + 1;
}

/* Where the last call of a group is kept: where one of the group was, else in
 * place of the oldest. */
static struct check_call *quiet_place(struct check_slot *slot,
				      const struct check_call *call)
{
	struct check_call *oldest = slot->quiet;

	for (uint32_t i = 0; i < CHECK_QUIET; i++) {
		struct check_call *quiet = &slot->quiet[i];

		if (quiet->number && quiet->group_id == call->group_id &&
		    quiet->generation == call->generation)
			return quiet;
		if (quiet->number < oldest->number)
			oldest = quiet;
	}
	return oldest;
}

/* Where the next call goes; the one that it drives out is kept if held, or if
 * it was the last of its group. Whoever reads the board meanwhile finds no call
 * there, or a whole one. */
static struct check_call *cleared_entry(struct check_slot *slot)
{
	struct check_call *next = entry(slot, slot->calls + 1);

	if (next->held && !slot->kept.number)
		slot->kept = *next;
	if (!slot->short_ring && !is_followed(slot, next) &&
	    is_last_of_group(slot, next))
		*quiet_place(slot, next) = *next;
	next->state = CHECK_CALL_NONE;
	next->number = 0;
	atomic_thread_fence(memory_order_release);
	return next;
}

#define AFTER_STATE offsetof(struct check_call, index)

struct check_call *check_draft(struct check_slot *slot)
{
	struct check_call *draft = cleared_entry(slot);

	memset((char *)draft + AFTER_STATE, 0, sizeof *draft - AFTER_STATE);
	draft->source = -1;
	return draft;
}

struct check_call *check_recall(struct check_slot *slot)
{
	slot->recalled.number = 0;
	atomic_thread_fence(memory_order_release);
	memset(&slot->recalled, 0, sizeof slot->recalled);
	slot->recalled.source = -1;
	return &slot->recalled;
}

void check_recalled(struct check_slot *slot, uint32_t number)
{
	slot->recalled.generation = slot->generation;
	slot->recalled.state = CHECK_CALL_ISSUED;
	atomic_thread_fence(memory_order_release);
	slot->recalled.number = number;
}

static void copy(struct check_call *draft, const struct check_call *call)
{
	memcpy((char *)draft + AFTER_STATE, (const char *)call + AFTER_STATE,
	       sizeof *draft - AFTER_STATE);
	draft->source = -1;
	draft->original = 0;
}

/* A ring goes round: where the rank makes the same calls again and again, the
 * last one there was a copy of this one, too. */
struct check_call *check_draft_like(struct check_slot *slot,
				    const struct check_call *call)
{
	struct check_call *draft = cleared_entry(slot);

	if (draft->original == 0 || draft->original != call->number)
		copy(draft, call);
	draft->original = call->number;
	draft->error = 0;
	draft->held = 0;
	draft->ended_ns = 0;
	return draft;
}

uint32_t check_issue_draft(struct check_slot *slot)
{
	uint32_t number = slot->calls + 1;
	struct check_call *call = entry(slot, number);

	if (check_is_message(call))
		call->index = index_of_message(slot, call);
	else if (call->tag >= 0)
		call->index = CHECK_INDEX_UNKNOWN;
	call->generation = slot->generation;
	atomic_thread_fence(memory_order_release);
	call->number = number;
	call->state = CHECK_CALL_ISSUED;
	slot->calls = number;
	if (call->tag < 0)
		advance(slot, call);
	return number;
}

uint32_t check_issue(struct check_slot *slot, const struct check_call *call)
{
	copy(cleared_entry(slot), call);
	return check_issue_draft(slot);
}

/* Where the refusal like that one is noted; the last one makes place. */
static struct check_refusal *place_for(struct check_slot *slot,
				       const struct check_refusal *like)
{
	uint32_t i = 0;

	while (i < slot->refused &&
	       (strcmp(slot->refusals[i].call.op, like->call.op) != 0 ||
		!check_same_site(&slot->refusals[i].call.site,
				 &like->call.site)))
		i++;
	if (i == slot->refused && i == CHECK_REFUSALS)
		slot->refusals[--i].count = 0;
	if (i == slot->refused)
		slot->refused++;
	return &slot->refusals[i];
}

void check_refuse(struct check_slot *slot, const struct check_call *call,
		  const char *text)
{
	size_t name = strcspn(text, ":");
	struct check_refusal refusal = {.call = {.state = CHECK_CALL_FAILED,
						 .error = call->error,
						 .group_id = call->group_id,
						 .leader = call->leader,
						 .generation = slot->generation,
						 .peer = -1,
						 .peer_rank = -1,
						 .tag = -1,
						 .site = call->site},
					.after = slot->calls};
	struct check_refusal *place;

	memcpy(refusal.call.group, call->group, sizeof refusal.call.group);
	snprintf(refusal.call.op, sizeof refusal.call.op, "%.*s", (int)name,
		 text);
	text += name;
	text += strspn(text, ": ");
	snprintf(refusal.reason, sizeof refusal.reason, "%s", text);
	place = place_for(slot, &refusal);
	refusal.count = place->count + 1;
	*place = refusal;
}

const struct check_refusal *check_last_refusal(const struct check_slot *slot)
{
	for (uint32_t i = 0; i < slot->refused && i < CHECK_REFUSALS; i++)
		if (slot->refusals[i].after == slot->calls)
			return &slot->refusals[i];
	return NULL;
}

/* When the rank's last call was. */
static int64_t last_ns(const struct check_slot *slot)
{
	const struct check_call *last = check_call_find(slot, slot->calls);

	if (!last)
		return 0;
	return last->ended_ns > last->issued_ns ? last->ended_ns
						: last->issued_ns;
}

uint32_t check_num_made(const struct check_slot *slot)
{
	return slot->num_made < CHECK_MADE ? slot->num_made : CHECK_MADE;
}

void check_make(struct check_slot *slot, const struct check_call *call)
{
	const uint32_t half = CHECK_MADE / 2, n = slot->num_made;
	struct check_call *made =
		&slot->made[n < half ? n : half + (n - half) % half];

	made->number = 0; /* whoever reads the board meanwhile finds none */
	atomic_thread_fence(memory_order_release);
	*made = *call;
	made->generation = slot->generation;
	made->state = CHECK_CALL_DONE;
	made->issued_ns = made->ended_ns = last_ns(slot);
	atomic_thread_fence(memory_order_release);
	made->number = slot->calls + 1;
	slot->num_made++;
}

const struct check_call *check_made_like(const struct check_slot *slot,
					 const struct check_call *like)
{
	for (uint32_t i = 0; i < check_num_made(slot); i++)
		if (slot->made[i].number &&
		    slot->made[i].index == like->index &&
		    slot->made[i].generation == like->generation)
			return &slot->made[i];
	return NULL;
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

	slot->parts_before.number = 0;
	atomic_thread_fence(memory_order_release);
	slot->parts_before = *parts;
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

int check_gives_up(const struct check_call *call, int64_t timeout_ns)
{
	if (call->tag == CHECK_TAG_STORE &&
	    timeout_ns > DIST_STORE_TIMEOUT_DEFAULT)
		timeout_ns = DIST_STORE_TIMEOUT_DEFAULT;
	return call->timeout_ns < timeout_ns;
}

uint32_t check_await_key(struct check_slot *slot, const char *op,
			 const char *key, int64_t timeout_ns, int users,
			 const struct check_site *site)
{
	int64_t before_ns = last_ns(slot);
	struct check_call *call = check_draft(slot);
	uint32_t number;

	/* A store has no clock: not before the rank's last call. */
	call->issued_ns = before_ns;
	call->tag = CHECK_TAG_STORE;
	call->peer = call->peer_rank = call->source = -1;
	call->timeout_ns = timeout_ns;
	call->numel = (uint64_t)users;
	call->site = *site;
	snprintf(call->op, sizeof call->op, "%s", op);
	snprintf(call->label, sizeof call->label, "%s", key);
	number = check_issue_draft(slot);
	check_wait(slot, number, NULL);
	return number;
}

void check_await_key_end(struct check_slot *slot, uint32_t number,
			 int32_t error)
{
	struct check_call *call = entry(slot, number);

	call->error = error;
	call->ended_ns = call->issued_ns;
	atomic_thread_fence(memory_order_release);
	call->state = error ? CHECK_CALL_FAILED : CHECK_CALL_DONE;
	if (!error || check_gives_up(call, DIST_STORE_TIMEOUT_DEFAULT))
		check_resume(slot);
	else
		slot->failed = 1;
}

void check_store(struct check_slot *slot, const char *key,
		 const struct check_site *site)
{
	slot->stored.count++;
	snprintf(slot->stored.key, sizeof slot->stored.key, "%s", key);
	slot->stored.site = *site;
}

/* Who does not ask for so long does something else. */
#define POLL_NS ((int64_t)2 * 1000000000)

void check_poll(struct check_slot *slot, const char *key, int64_t now_ns,
		const struct check_site *site)
{
	struct check_polled *polled = &slot->polled;
	struct check_polled next = {.since_ns = now_ns,
				    .last_ns = now_ns,
				    .calls = slot->calls,
				    .stored = slot->stored.count,
				    .site = *site};

	snprintf(next.key, sizeof next.key, "%s", key);
	if (check_polls(slot, now_ns) && strcmp(polled->key, next.key) == 0)
		polled->last_ns = now_ns;
	else
		*polled = next;
}

int64_t check_polls(const struct check_slot *slot, int64_t now_ns)
{
	const struct check_polled *polled = &slot->polled;

	return slot->state == CHECK_RANK_RUNNING &&
			       polled->calls == slot->calls &&
			       polled->stored == slot->stored.count &&
			       now_ns - polled->last_ns < POLL_NS
		       ? now_ns - polled->since_ns
		       : 0;
}

void check_look(struct check_slot *slot, uint32_t number)
{
	slot->looked_at = number;
	check_wait(slot, number, NULL);
}

void check_limit(struct check_slot *slot, uint32_t number, int64_t timeout_ns)
{
	struct check_call *call = entry(slot, number);

	if (call->number != number && slot->recalled.number == number)
		call = &slot->recalled;
	if (call->number == number)
		call->timeout_ns = timeout_ns;
}

void check_end(struct check_slot *slot, uint32_t number, int32_t error,
	       int64_t now_ns)
{
	struct check_call *call = entry(slot, number);

	if (error)
		slot->failed = 1;
	if (call->number != number && slot->recalled.number == number)
		call = &slot->recalled;
	if (call->number != number)
		return;
	call->error = error;
	call->ended_ns = now_ns;
	atomic_thread_fence(memory_order_release);
	call->state = error ? CHECK_CALL_FAILED : CHECK_CALL_DONE;
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
	if (call->number == number)
		return call;
	return slot->recalled.number == number ? &slot->recalled : NULL;
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
	return check_num_memberships(slot) == CHECK_GROUPS ? UINT32_MAX : 0;
}

void check_set_collectives(struct check_slot *slot, uint32_t group_id,
			   uint32_t collectives)
{
	uint32_t i = place_of(slot, group_id);

	if (i < check_num_memberships(slot))
		at(slot, i)->collectives = collectives;
}

/* The later of two collectives of the group, of which either may be none. */
static const struct check_call *later(const struct check_call *last,
				      const struct check_call *call,
				      uint32_t group_id, uint32_t generation)
{
	if (!call->number || call->tag >= 0 || call->group_id != group_id ||
	    call->generation != generation ||
	    (last && last->number > call->number))
		return last;
	return call;
}

const struct check_call *check_last_collective(const struct check_slot *slot,
					       uint32_t group_id,
					       uint32_t generation)
{
	const struct check_call *last = NULL;

	for (uint32_t i = 0; i < check_ring(slot); i++)
		last = later(last, &slot->ring[i], group_id, generation);
	for (uint32_t i = 0; !slot->short_ring && i < CHECK_QUIET; i++)
		last = later(last, &slot->quiet[i], group_id, generation);
	return last;
}

int check_same_collective(const struct check_call *a,
			  const struct check_call *b)
{
	return a->tag < 0 && b->tag < 0 && a->group_id == b->group_id &&
	       a->leader == b->leader && a->index == b->index &&
	       a->generation == b->generation;
}
