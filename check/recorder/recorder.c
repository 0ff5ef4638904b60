/* recorder.c - collects dumps of Flight Recorders one by one. */
#define _GNU_SOURCE /* memmem */
#include "check/recorder/recorder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/recorder/board.h"
#include "check/recorder/job.h"
#include "base/character.h"

struct check_recorder {
	struct job job;
	uint32_t room; /* recordings that there is place for */
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
	const char *name = strrchr(path, '/'), *end, *from;
	uint64_t number = 0;

	name = name ? name + 1 : path;
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

static bool make_room(struct check_recorder *recorder)
{
	uint32_t room = recorder->room ? 2 * recorder->room : 16;
	struct recording *all;

	if (recorder->job.num_recordings < recorder->room)
		return true;
	all = realloc(recorder->job.recordings, room * sizeof *all);
	if (!all)
		return false;
	recorder->job.recordings = all;
	recorder->room = room;
	return true;
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
	if (!make_room(recorder)) {
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
	       check_board_fill(&recorder->job, diagnosis);
}
