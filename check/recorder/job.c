/*
 * job.c - how far each rank got, by its recording and the others'.
 *
 * A rank enqueues many calls, which run one after the other. It waits in the
 * first incomplete one; later calls have not begun, unless the recording says
 * so, or they are in the same batch.
 */
#include "check/recorder/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- the first disagreement ---------------------------------------------- */

/* A place where ranks meet. */
struct place {
	uint32_t group, index;
	uint64_t kind;    /* of the first call that was seen there */
	int64_t same_ns;  /* the first call of that kind, */
	int64_t other_ns; /* and of any other; INT64_MAX: none */
	uint32_t in_use;
};

struct places {
	struct place *all;
	uint32_t size;
};

static bool open_places(struct places *places, const struct job *job)
{
	uint64_t most = 1;

	/* Where as many ranks meet as can, places are few. */
	for (uint32_t i = 0; i < job->num_recordings; i++)
		most += job->recordings[i].num_calls;
	for (places->size = 1024; places->size < 2 * most;)
		places->size *= 2;
	places->all = calloc(places->size, sizeof *places->all);
	return places->all;
}

static struct place *find(const struct places *places, uint32_t group,
			  uint32_t index)
{
	uint64_t hash = dist__hash_word(DIST__HASH_BEGIN, group);
	uint32_t at;

	hash = dist__hash_word(hash, index) * DIST__HASH_FACTOR;
	at = (uint32_t)(hash >> 32) & (places->size - 1);
	while (places->all[at].in_use && (places->all[at].group != group ||
					  places->all[at].index != index))
		at = (at + 1) & (places->size - 1);
	return &places->all[at];
}

static void note(const struct places *places, uint32_t group,
		 const struct recording_call *call)
{
	struct place *place = find(places, group, call->index);
	int64_t *since;

	if (!place->in_use)
		*place = (struct place){.group = group,
					.index = call->index,
					.kind = call->kind,
					.same_ns = call->created_ns,
					.other_ns = INT64_MAX,
					.in_use = 1};
	since = place->kind == call->kind ? &place->same_ns : &place->other_ns;
	if (call->created_ns < *since)
		*since = call->created_ns;
}

/* When it came to be: with the later of two calls that differ. */
static int64_t since(const struct place *place)
{
	return place->same_ns > place->other_ns ? place->same_ns
						: place->other_ns;
}

static const struct place *first_of(const struct places *places)
{
	const struct place *first = NULL;

	for (uint32_t i = 0; i < places->size; i++) {
		const struct place *place = &places->all[i];

		if (!place->in_use || place->other_ns == INT64_MAX)
			continue;
		if (!first || since(place) < since(first) ||
		    (since(place) == since(first) &&
		     (place->group < first->group ||
		      (place->group == first->group &&
		       place->index < first->index))))
			first = place;
	}
	return first;
}

static void cut_at(struct job *job, uint32_t number, const struct place *place)
{
	const struct recording *recording = &job->recordings[number];

	for (uint32_t i = 0; i < recording->num_calls; i++) {
		const struct recording_call *call = &recording->calls[i];

		if (call->collective && call->index == place->index &&
		    recording->groups[call->group].id == place->group) {
			job->limits[number] = i + 1;
			return;
		}
	}
}

/*
 * Finds the earliest disagreement among all calls of a job
 * whose limits include all calls, and reduces the limits to the calls before
 * it: the later ones follow from it. False: no memory.
 */
static bool cut_at_disagreement(struct job *job)
{
	const struct place *first;
	struct places places;

	if (!open_places(&places, job))
		return false;
	for (uint32_t i = 0; i < job->num_recordings; i++) {
		const struct recording *recording = &job->recordings[i];

		for (uint32_t j = 0; j < recording->num_calls; j++)
			if (recording->calls[j].collective)
				note(&places,
				     recording
					     ->groups[recording->calls[j].group]
					     .id,
				     &recording->calls[j]);
	}
	first = first_of(&places);
	for (uint32_t i = 0; first && i < job->num_recordings; i++)
		cut_at(job, i, first);
	if (first)
		job->groups[first->group].on_board = true;
	free(places.all);
	return true;
}

/* The deadline of a call that has none on record: torch's own. */
#define TIMEOUT_MS 600000

/* ---- groups ------------------------------------------------------------- */

static uint64_t hash_group(const struct recording_group *group)
{
	uint64_t hash = dist__hash_word(DIST__HASH_BEGIN, group->name);

	for (uint32_t i = 0; i < group->num_ranks; i++)
		hash = dist__hash_word(hash, group->ranks[i]);
	return hash * DIST__HASH_FACTOR;
}

static bool same_group(const struct job_group *a,
		       const struct recording_group *b)
{
	if (a->name != b->name || (b->num_ranks > 0) != a->known)
		return false;
	return !a->known || (a->num_ranks == b->num_ranks &&
			     memcmp(a->ranks, b->ranks,
				    a->num_ranks * sizeof *a->ranks) == 0);
}

/* Gives each group of a recording its number in the job. */
static bool number_groups(struct job *job)
{
	uint32_t most = 0, size = 64;
	uint32_t *table;

	for (uint32_t i = 0; i < job->num_recordings; i++)
		most += job->recordings[i].num_groups;
	while (size < 2 * most)
		size *= 2;
	table = calloc(size, sizeof *table);
	job->groups = calloc((size_t)most + 1, sizeof *job->groups);
	for (uint32_t i = 0; table && job->groups && i < job->num_recordings;
	     i++) {
		struct recording *recording = &job->recordings[i];

		for (uint32_t j = 0; j < recording->num_groups; j++) {
			struct recording_group *own = &recording->groups[j];
			uint32_t at =
				(uint32_t)(hash_group(own) >> 32) & (size - 1);

			while (table[at] &&
			       !same_group(&job->groups[table[at] - 1], own))
				at = (at + 1) & (size - 1);
			if (!table[at]) {
				job->groups[job->num_groups++] =
					(struct job_group){
						.name = own->name,
						.desc = own->desc,
						.num_ranks = own->num_ranks,
						.ranks = own->ranks,
						.known = own->num_ranks > 0};
				table[at] = job->num_groups;
			}
			own->id = table[at] - 1;
			job->groups[own->id].twins |= own->twins;
		}
	}
	free(table);
	return table && job->groups;
}

static void note_rank(struct job *job, uint32_t rank)
{
	if (rank >= job->world_size)
		job->world_size = rank + 1;
}

/* Finds the ranks of the job, and who has a recording. */
static bool find_ranks(struct job *job)
{
	for (uint32_t i = 0; i < job->num_recordings; i++)
		note_rank(job, job->recordings[i].rank);
	for (uint32_t i = 0; i < job->num_groups; i++)
		for (uint32_t j = 0; j < job->groups[i].num_ranks; j++)
			note_rank(job, job->groups[i].ranks[j]);
	job->of_rank = calloc(job->world_size, sizeof *job->of_rank);
	for (uint32_t i = 0; job->of_rank && i < job->num_recordings; i++)
		job->of_rank[job->recordings[i].rank] = i + 1;
	return job->of_rank;
}

static bool is_default(const struct job *job, const struct job_group *group)
{
	return strcmp(job->names.all[group->desc], "default_pg") == 0;
}

/* Who is in a group of which no recording has the ranks: all, or those that
 * called there. */
static bool find_members(struct job *job, uint32_t id)
{
	struct job_group *group = &job->groups[id];
	bool all = is_default(job, group);

	if (group->known)
		return true;
	group->ranks = calloc(job->world_size, sizeof *group->ranks);
	if (!group->ranks)
		return false;
	for (uint32_t rank = 0; rank < job->world_size; rank++) {
		const struct recording *recording =
			check_job_recording(job, rank);
		bool calls = all;

		for (uint32_t i = 0; recording && i < recording->num_groups;
		     i++)
			calls |= recording->groups[i].id == id;
		if (calls)
			group->ranks[group->num_ranks++] = rank;
	}
	return true;
}

/* The default group, which has all ranks, is number 0 on the board. */
static void choose_default(struct job *job)
{
	uint32_t next = 1;
	bool found = false;

	for (uint32_t i = 0; i < job->num_groups; i++) {
		struct job_group *group = &job->groups[i];
		bool first = !found && is_default(job, group) &&
			     group->num_ranks == job->world_size;

		for (uint32_t j = 0; first && j < group->num_ranks; j++)
			first = group->ranks[j] == j;
		found |= first;
		group->board_id = first ? 0 : next++;
	}
}

int32_t check_job_global(const struct job *job,
			 const struct recording_group *group, int32_t rank)
{
	const struct job_group *whole = &job->groups[group->id];

	if (rank < 0)
		return -1;
	if (!whole->known)
		return (uint32_t)rank < job->world_size ? rank : -1;
	return (int32_t)whole->ranks[rank];
}

/* ---- how far each got --------------------------------------------------- */

static bool is_over(const struct recording_call *call)
{
	return call->state >= RECORDING_RETIRED;
}

bool check_job_has_begun(const struct job *job, uint32_t recording, uint32_t i)
{
	const struct recording *own = &job->recordings[recording];
	uint32_t open = job->open[recording];

	return i < job->limits[recording] &&
	       (open == RECORDING_NONE || i <= open || !own->ordered ||
		own->calls[i].state != RECORDING_SCHEDULED ||
		own->calls[i].batch == own->calls[open].batch);
}

/* Finds the first call of a recording that is not complete, and what has begun
 * in each of its groups. */
static void find_place(struct job *job, uint32_t number)
{
	struct recording *recording = &job->recordings[number];
	uint32_t i = 0;

	while (i < job->limits[number] && is_over(&recording->calls[i]))
		i++;
	job->open[number] = i < job->limits[number] ? i : RECORDING_NONE;
	job->waiting[number] = job->open[number];
	for (i = 0; i < recording->num_groups; i++)
		recording->groups[i].begun = 0;
	for (i = 0; i < job->limits[number]; i++) {
		const struct recording_call *call = &recording->calls[i];
		struct recording_group *group = &recording->groups[call->group];

		if (call->collective && check_job_has_begun(job, number, i) &&
		    call->index >= group->begun)
			group->begun = call->index + 1;
	}
}

static const struct recording_group *
own_group(const struct recording *recording, uint32_t id)
{
	for (uint32_t i = 0; recording && i < recording->num_groups; i++)
		if (recording->groups[i].id == id)
			return &recording->groups[i];
	return NULL;
}

uint32_t check_job_begun(const struct job *job, uint32_t rank, uint32_t group)
{
	const struct recording_group *own =
		own_group(check_job_recording(job, rank), group);

	return own ? own->begun : 0;
}

/* Whether rank, whose recording is another's peer, has come to the other end of
 * call, of which it is the peer. Where calls were dropped, those that are
 * complete are met already. */
static bool has_answered(const struct job *job, uint32_t peer,
			 const struct recording *own,
			 const struct recording_call *call)
{
	uint32_t number = job->of_rank[peer];
	const struct recording *other = check_job_recording(job, peer);
	bool exact = other && other->complete && own->complete;

	for (uint32_t i = 0; other && i < other->num_calls; i++) {
		const struct recording_call *answer = &other->calls[i];
		const struct recording_group *group =
			&other->groups[answer->group];

		if (answer->collective || answer->send == call->send ||
		    group->id != own->groups[call->group].id ||
		    check_job_global(job, group, answer->peer) !=
			    (int32_t)own->rank ||
		    !check_job_has_begun(job, number - 1, i))
			continue;
		if (exact ? answer->index >= call->index : !is_over(answer))
			return true;
	}
	return false;
}

bool check_job_awaits(const struct job *job, uint32_t recording, uint32_t i)
{
	const struct recording *own = &job->recordings[recording];
	const struct recording_call *call = &own->calls[i];
	const struct recording_group *group = &own->groups[call->group];
	const struct job_group *whole = &job->groups[group->id];
	int32_t peer;

	if (!call->collective) {
		peer = check_job_global(job, group, call->peer);
		return peer >= 0 &&
		       !has_answered(job, (uint32_t)peer, own, call);
	}
	for (uint32_t j = 0; j < whole->num_ranks; j++)
		if (check_job_begun(job, whole->ranks[j], group->id) <=
		    call->index)
			return true;
	return false;
}

int64_t check_job_deadline_ns(const struct recording_call *call)
{
	uint32_t timeout_ms = call->timeout_ms ? call->timeout_ms : TIMEOUT_MS;

	return call->created_ns + (int64_t)timeout_ms * 1000000;
}

/* Of calls that have begun and are not complete, the rank waits in the first
 * that others have yet to come to. */
static void choose_waiting(struct job *job, uint32_t number)
{
	const struct recording *own = &job->recordings[number];

	for (uint32_t i = job->open[number]; i < job->limits[number]; i++)
		if (!is_over(&own->calls[i]) &&
		    check_job_has_begun(job, number, i) &&
		    check_job_awaits(job, number, i)) {
			job->waiting[number] = i;
			break;
		}
}

/* ---- calls that failed -------------------------------------------------- */

/* Whether everybody needs everybody in the call. */
static bool needs_all(const struct job *job, const struct recording_call *call)
{
	static const char *const names[] = {
		"all_reduce",           "all_gather", "all_gather_single",
		"reduce_scatter",       "barrier",    "all_to_all",
		"reduce_scatter_single"};
	const char *op = job->names.all[call->op];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(op, names[i]) == 0)
			return true;
	return false;
}

/*
 * Gloo's recorder never learns how a call ended: it is retired, well or not.
 * The last one did not end well if it needs a rank that had not come to it when
 * that wrote its dump, after the deadline: then it is open again.
 */
static bool reopen_last(struct job *job, uint32_t number)
{
	struct recording *own = &job->recordings[number];
	struct recording_call *last;
	const struct recording_group *group;

	if (own->ordered || job->limits[number] == 0)
		return false;
	last = &own->calls[job->limits[number] - 1];
	group = &own->groups[last->group];
	if (last->state != RECORDING_RETIRED || !last->collective ||
	    !needs_all(job, last))
		return false;
	for (uint32_t i = 0; i < job->groups[group->id].num_ranks; i++) {
		uint32_t rank = job->groups[group->id].ranks[i];
		const struct recording *other = check_job_recording(job, rank);

		if (other &&
		    check_job_begun(job, rank, group->id) <= last->index &&
		    other->written_ns >= check_job_deadline_ns(last)) {
			last->state = RECORDING_SCHEDULED;
			return true;
		}
	}
	return false;
}

/* ---- all ---------------------------------------------------------------- */

static void find_places(struct job *job)
{
	for (uint32_t i = 0; i < job->num_recordings; i++)
		find_place(job, i);
}

bool check_job_settle(struct job *job)
{
	uint32_t num = job->num_recordings;
	bool reopened = false;

	job->limits = calloc((size_t)num + 1, sizeof *job->limits);
	job->open = calloc((size_t)num + 1, sizeof *job->open);
	job->waiting = calloc((size_t)num + 1, sizeof *job->waiting);
	if (!job->limits || !job->open || !job->waiting ||
	    !number_groups(job) || !find_ranks(job))
		return false;
	for (uint32_t i = 0; i < job->num_groups; i++)
		if (!find_members(job, i))
			return false;
	choose_default(job);
	for (uint32_t i = 0; i < num; i++)
		job->limits[i] = job->recordings[i].num_calls;
	if (!cut_at_disagreement(job))
		return false;
	find_places(job);
	for (uint32_t i = 0; i < num; i++)
		reopened |= reopen_last(job, i);
	if (reopened)
		find_places(job);
	for (uint32_t i = 0; i < num; i++)
		if (job->waiting[i] != RECORDING_NONE)
			choose_waiting(job, i);
	return true;
}

void check_job_release(struct job *job)
{
	for (uint32_t i = 0; i < job->num_groups; i++)
		if (!job->groups[i].known)
			free(job->groups[i].ranks);
	for (uint32_t i = 0; i < job->num_recordings; i++)
		check_recording_release(&job->recordings[i]);
	check_recording_names_release(&job->names);
	free(job->recordings);
	free(job->of_rank);
	free(job->groups);
	free(job->limits);
	free(job->open);
	free(job->waiting);
	*job = (struct job){.recordings = NULL};
}
