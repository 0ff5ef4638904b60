/* recorder.c - collects dumps of Flight Recorders one by one. */
#define _GNU_SOURCE /* memmem */
#include "check/recorder/recorder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/character.h"
#include "base/text.h"
#include "check/diagnosis.h"
#include "check/recorder/job.h"
#include "lockstep/types.h"

/* Calls shown of a rank that has begun more of them than the one it waits in.
 */
#define CALLS_BEFORE 8
/* How far the clock of the files may be behind that of the ranks: a second, of
 * short deadlines a tenth. */
#define CLOCKS_NS INT64_C(1000000000)

static const char *name_of(const struct job *job, uint32_t name)
{
	return job->names.all[name];
}

/* ---- deadlines ---------------------------------------------------------- */

static bool is_past(const struct recording *own,
		    const struct recording_call *call)
{
	int64_t deadline_ns = check_job_deadline_ns(call);
	int64_t tenth_ns = (deadline_ns - call->created_ns) / 10;

	return own->written_ns >=
	       deadline_ns - (tenth_ns < CLOCKS_NS ? tenth_ns : CLOCKS_NS);
}

/* Whether somebody waits in vain: for one who has not come, until after the
 * deadline. */
static bool is_hung(const struct job *job)
{
	for (uint32_t i = 0; i < job->num_recordings; i++) {
		const struct recording *own = &job->recordings[i];
		uint32_t waiting = job->waiting[i];

		if (waiting != RECORDING_NONE &&
		    is_past(own, &own->calls[waiting]) &&
		    check_job_awaits(job, i, waiting))
			return true;
	}
	return false;
}

/* ---- groups ------------------------------------------------------------- */

/* Who has begun fewer collectives than another is awaited there. */
static void find_furthest(struct job *job)
{
	for (uint32_t i = 0; i < job->num_groups; i++) {
		struct job_group *group = &job->groups[i];

		for (uint32_t j = 0; group->on_board && j < group->num_ranks;
		     j++) {
			uint32_t begun =
				check_job_begun(job, group->ranks[j], i);

			if (begun > group->furthest)
				group->furthest = begun;
		}
	}
}

static void join(const struct job *job, struct check_board *board, uint32_t id,
		 bool behind)
{
	const struct job_group *group = &job->groups[id];

	for (uint32_t i = 0; i < group->num_ranks; i++) {
		struct check_slot *slot = &board->slots[group->ranks[i]];
		uint32_t begun = check_job_begun(job, group->ranks[i], id);

		if ((begun < group->furthest) != behind)
			continue;
		check_join(slot, group->board_id, group->ranks[0]);
		check_set_collectives(slot, group->board_id, begun);
	}
}

/* ---- calls -------------------------------------------------------------- */

static void print_group(const struct job *job, const struct job_group *group,
			char *to, size_t size)
{
	const char *name = name_of(job, group->name);
	const char *desc = name_of(job, group->desc);

	if (group->board_id == 0)
		snprintf(to, size, "default");
	else if (!desc[0] || strcmp(desc, "undefined") == 0)
		snprintf(to, size, "%s", name);
	else if (group->twins)
		snprintf(to, size, "%s:%s", desc, name);
	else
		snprintf(to, size, "%s", desc);
}

static struct check_call call_of(const struct job *job,
				 const struct recording *own, uint32_t i)
{
	const struct recording_call *from = &own->calls[i];
	const struct recording_group *group = &own->groups[from->group];
	const struct job_group *whole = &job->groups[group->id];
	bool exact = from->collective || own->complete;
	struct check_call call = {
		.state = from->state >= RECORDING_RETIRED ? CHECK_CALL_DONE
							  : CHECK_CALL_ISSUED,
		.group_id = whole->board_id,
		.leader = whole->ranks[0],
		.index = exact ? from->index : CHECK_INDEX_UNKNOWN,
		.peer = from->peer,
		.peer_rank = check_job_global(job, group, from->peer),
		.source = -1,
		.tag = from->collective ? -1 : 0,
		.numel = from->numel,
		.fingerprint = from->kind,
		.timeout_ns = check_job_deadline_ns(from) - from->created_ns,
		.issued_ns = from->created_ns};

	if (call.state == CHECK_CALL_DONE)
		call.ended_ns = from->created_ns;
	snprintf(call.op, sizeof call.op, "%s", name_of(job, from->op));
	snprintf(call.dtype, sizeof call.dtype, "%s",
		 name_of(job, from->dtype));
	print_group(job, whole, call.group, sizeof call.group);
	check_site_set(&call.site, name_of(job, from->file), (int)from->line);
	if (from->from_line)
		check_site_set(&call.from, name_of(job, from->from_file),
			       (int)from->from_line);
	return call;
}

/* Whether call number i goes onto the board. Which message of its kind one is
 * that is complete cannot be told where the first calls were dropped. */
static bool is_shown(const struct job *job, uint32_t number, uint32_t i)
{
	const struct recording *own = &job->recordings[number];
	const struct recording_call *call = &own->calls[i];

	return check_job_has_begun(job, number, i) &&
	       (call->collective || own->complete ||
		call->state < RECORDING_RETIRED);
}

static void put_calls(const struct job *job, uint32_t number,
		      struct check_slot *slot)
{
	const struct recording *own = &job->recordings[number];
	uint32_t waiting = job->waiting[number], shown = 0, skip = 0, last = 0;

	for (uint32_t i = 0; i < job->limits[number]; i++) {
		shown += is_shown(job, number, i);
		if (i == waiting)
			last = shown;
	}
	/* The ring has to have the call that the rank waits in. */
	if (last == 0)
		last = shown;
	if (shown > CHECK_RING)
		skip = shown - CHECK_RING;
	if (last > CALLS_BEFORE && skip > last - CALLS_BEFORE)
		skip = last - CALLS_BEFORE;
	for (uint32_t i = 0; i < job->limits[number]; i++) {
		struct check_call *call;

		if (!is_shown(job, number, i))
			continue;
		slot->calls++;
		if (slot->calls <= skip)
			continue;
		if (slot->calls > skip + CHECK_RING) {
			slot->calls--;
			break;
		}
		call = &slot->ring[check_ring_place(slot, slot->calls)];
		*call = call_of(job, own, i);
		call->number = slot->calls;
		if (i == waiting)
			check_wait(slot, slot->calls, NULL);
	}
}

/* Whether others wait for the call, which its rank has enqueued only. */
static bool is_wanted(const struct job *job, uint32_t number, uint32_t i)
{
	const struct recording *own = &job->recordings[number];
	const struct recording_call *call = &own->calls[i];
	uint32_t id = own->groups[call->group].id;

	return !check_job_has_begun(job, number, i) &&
	       job->groups[id].on_board &&
	       (!call->collective || call->index < job->groups[id].furthest);
}

/* Puts the calls behind the one that the rank waits in, as far as there is room
 * and others wait for them. */
static void put_queue(const struct job *job, uint32_t number,
		      struct check_slot *slot)
{
	uint32_t waiting = slot->waiting, end = waiting + CHECK_RING;

	if (end > CALLS_BEFORE)
		end -= CALLS_BEFORE;
	for (uint32_t i = job->open[number];
	     waiting && i < job->limits[number] && slot->calls < end; i++) {
		struct check_call *call;

		if (!is_wanted(job, number, i))
			continue;
		slot->calls++;
		call = &slot->ring[check_ring_place(slot, slot->calls)];
		*call = call_of(job, &job->recordings[number], i);
		call->number = slot->calls;
		call->state = CHECK_CALL_QUEUED;
	}
}

/* How many messages there were of each kind. */
static void put_kinds(const struct job *job, uint32_t number,
		      struct check_slot *slot)
{
	const struct recording *own = &job->recordings[number];

	for (uint32_t i = job->limits[number];
	     own->complete && i-- > 0 && slot->kinds < CHECK_KINDS;) {
		const struct recording_call *call = &own->calls[i];
		const struct recording_group *group = &own->groups[call->group];
		const struct check_kind kind = {
			.group_id = job->groups[group->id].board_id,
			.peer = check_job_global(job, group, call->peer),
			.sends = call->send,
			.count = call->index + 1};
		uint32_t j = 0;

		if (call->collective || !check_job_has_begun(job, number, i))
			continue;
		while (j < slot->kinds &&
		       (slot->kind[j].group_id != kind.group_id ||
			slot->kind[j].peer != kind.peer ||
			slot->kind[j].sends != kind.sends))
			j++;
		if (j == slot->kinds)
			slot->kind[slot->kinds++] = kind;
	}
}

/* Gives up the call that the rank waits in. */
static void give_up(struct check_slot *slot)
{
	const struct check_call *call = check_call_find(slot, slot->waiting);

	if (call)
		check_end(slot, call->number, DIST_ERR_TIMEOUT,
			  call->issued_ns + call->timeout_ns);
}

static void put_rank(const struct job *job, uint32_t number, bool hung,
		     struct check_diagnosis *diagnosis)
{
	const struct recording *own = &job->recordings[number];
	struct check_slot *slot = &diagnosis->board->slots[own->rank];
	const struct check_call *call;

	slot->state = CHECK_RANK_RUNNING;
	put_calls(job, number, slot);
	put_queue(job, number, slot);
	put_kinds(job, number, slot);
	call = check_call_find(slot, slot->waiting);
	if (call && call->timeout_ns > diagnosis->facts.timeout_ns)
		diagnosis->facts.timeout_ns = call->timeout_ns;
	if (hung)
		give_up(slot);
	(void)check_slot_mend(slot, job->world_size);
}

/* Makes the board of *diagnosis, which is zeroed, from a
 * settled job; false: no memory. */
static bool fill_board(struct job *job, struct check_diagnosis *diagnosis)
{
	bool hung = is_hung(job);

	diagnosis->board = calloc(1, check_board_bytes(job->world_size));
	if (!diagnosis->board)
		return false;
	check_board_init(diagnosis->board, job->world_size);
	for (uint32_t rank = 0; rank < job->world_size; rank++) {
		diagnosis->board->slots[rank].state = CHECK_RANK_UNKNOWN;
		diagnosis->board->slots[rank].short_ring = 0;
	}
	memcpy(diagnosis->world, job->recordings[0].backend,
	       sizeof diagnosis->world);
	check_printable(diagnosis->world, strlen(diagnosis->world));
	diagnosis->facts.now_ns = -1;
	diagnosis->facts.lost_rank = -1;
	for (uint32_t i = 0; i < job->num_recordings; i++) {
		const struct recording *own = &job->recordings[i];
		uint32_t waiting = job->waiting[i];

		if (waiting != RECORDING_NONE)
			job->groups[own->groups[own->calls[waiting].group].id]
				.on_board = true;
	}
	for (uint32_t i = 0; i < job->num_groups; i++)
		job->groups[i].on_board |= job->groups[i].board_id == 0;
	find_furthest(job);
	/* Who is behind in more groups than a slot has room for is known to be
	 * so in the first of them. */
	for (int behind = 1; behind >= 0; behind--)
		for (uint32_t i = 0; i < job->num_groups; i++)
			if (job->groups[i].on_board &&
			    job->groups[i].num_ranks > 0)
				join(job, diagnosis->board, i, behind);
	for (uint32_t i = 0; i < job->num_recordings; i++)
		put_rank(job, i, hung, diagnosis);
	return true;
}

/* ---- the dumps ----------------------------------------------------------- */

struct check_recorder {
	struct job job;
	size_t room; /* recordings that there is place for */
};

struct check_recorder *check_recorder_new(void)
{
	return calloc(1, sizeof(struct check_recorder));
}

void check_recorder_free(struct check_recorder *recorder)
{
	if (recorder)
		check_job_release(&recorder->job);
	free(recorder);
}

static bool has(const char *data, size_t size, const char *text)
{
	return memmem(data, size, text, strlen(text)) != NULL;
}

/* The first byte that is no white space; -1: there is none. */
static int first_byte(const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isspace((unsigned char)data[i]))
			return (unsigned char)data[i];
	return -1;
}

bool check_recorder_knows(const char *data, size_t size)
{
	int first = first_byte(data, size);

	if (size > 1 && (unsigned char)data[0] == 0x80)
		return true;
	/* A dict of protocol 0 or 1, and its first key. */
	if (size > 2 &&
	    (memcmp(data, "(d", 2) == 0 || memcmp(data, "}q", 2) == 0))
		return true;
	return first == '{' && has(data, size, "\"entries\"") &&
	       !has(data, size, "\"lockstep dump\"");
}

bool check_recorder_rank(const char *path, uint32_t *rank)
{
	const char *name = dist__base_name(path), *end, *from;
	uint64_t number = 0;

	end = strchr(name, '.'); /* nccl_trace_rank_3.pickle */
	if (!end)
		end = name + strlen(name);
	for (from = end; from > name && isdigit((unsigned char)from[-1]);)
		from--;
	if (from == end || end - from > 9)
		return false;
	for (; from < end; from++)
		number = 10 * number + (uint64_t)(*from - '0');
	*rank = (uint32_t)number;
	return number < CHECK_DUMP_MAX_WORLD;
}

/* A rank is in each group on which it called. */
static bool is_member(const struct recording *recording, uint32_t *group)
{
	for (*group = 0; *group < recording->num_groups; ++*group) {
		const struct recording_group *own = &recording->groups[*group];
		uint32_t i = 0;

		while (i < own->num_ranks && own->ranks[i] != recording->rank)
			i++;
		if (i == own->num_ranks && own->num_ranks > 0)
			return false;
	}
	return true;
}

static bool read(struct check_recorder *recorder, struct recording *recording,
		 const char *data, size_t size, char message[256])
{
	struct recording_names *names = &recorder->job.names;
	struct plain_arena arena = {.blocks = NULL};
	bool json = first_byte(data, size) == '{';
	struct plain *dump =
		json ? check_plain_read_json(&arena, data, size, message)
		     : check_plain_read_pickle(&arena, data, size, message);
	bool good =
		dump && check_recording_read(recording, dump, names, message);
	uint32_t group;

	check_plain_release(&arena);
	if (!good || is_member(recording, &group))
		return good;
	snprintf(message, 256,
		 "of rank %u, by its name: expected one of the ranks of group "
		 "%s, which it has",
		 recording->rank, names->all[recording->groups[group].name]);
	check_printable(message, strlen(message));
	return false;
}

bool check_recorder_add(struct check_recorder *recorder, uint32_t rank,
			const char *data, size_t size, int64_t written_ns,
			char message[256])
{
	struct job *job = &recorder->job;
	struct recording *recording;

	for (uint32_t i = 0; i < job->num_recordings; i++)
		if (job->recordings[i].rank == rank) {
			snprintf(message, 256, "a second dump of rank %u",
				 rank);
			return false;
		}
	if (!dist__array_room(&job->recordings, &recorder->room,
			      (size_t)job->num_recordings + 1,
			      sizeof *recording)) {
		snprintf(message, 256, "no memory for %u dumps",
			 job->num_recordings + 1);
		return false;
	}
	recording = &job->recordings[job->num_recordings];
	*recording = (struct recording){.rank = rank, .written_ns = written_ns};
	if (!read(recorder, recording, data, size, message)) {
		check_recording_release(recording);
		return false;
	}
	job->num_recordings++;
	return true;
}

bool check_recorder_fill(struct check_recorder *recorder,
			 struct check_diagnosis *diagnosis)
{
	return check_job_settle(&recorder->job) &&
	       fill_board(&recorder->job, diagnosis);
}
