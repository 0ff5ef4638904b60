/*
 * places.c - all ranks' collectives by group and index, where they match.
 *
 * A thousand ranks with thousands of calls do not fit on a board, and the first
 * disagreement may be far back. One pass over all calls finds it. The engine
 * then judges a board that ends there.
 */
#include "check/recorder/places.h"

#include <stdlib.h>

#include "base/hash.h"

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

bool check_places_cut(struct job *job)
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
