#include "trace/recorder.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/spill.h"
#include "trace/stream.h"
#include "trace/write.h"

/*
 * Each part's times are relative to its own earliest event; its head has the
 * clock's value at that event. The parts of one host share the clock, so adding
 * the difference to the earliest of all puts them on one time axis.
 */
struct merge {
	struct dist__output *output;
	json_t *distributed; /* of the first part */
	json_t *facts;
	int64_t base_ns;      /* of the merged trace: the earliest */
	int64_t part_base_ns; /* of the part being read */
	bool first;           /* no event was written yet */
};

static char *part_path(const char *path, int rank)
{
	size_t room = strlen(path) + 32;
	char *part = malloc(room);

	if (part)
		snprintf(part, room, "%s.rank%d", path, rank);
	return part;
}

static enum dist_error keep_head(const char *key, const json_t *value,
				 void *arg, struct dist_message *message)
{
	struct merge *merge = arg;

	(void)message;
	if (strcmp(key, "baseTimeNanoseconds") == 0)
		merge->part_base_ns = json_integer_value(value);
	if (strcmp(key, "distributedInfo") == 0 && !merge->distributed) {
		merge->distributed = json_deep_copy(value);
		json_object_del(merge->distributed, "rank");
	}
	if (strcmp(key, "lockstep") == 0 && !merge->facts)
		merge->facts = json_deep_copy(value);
	return DIST_OK;
}

/* Moves the time under key, in us, by offset_ns. */
static int shift(json_t *object, const char *key, int64_t offset_ns)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_real(value))
		return 0;
	/* Through whole nanoseconds, in which the sum is exact. */
	return json_real_set(
		value,
		(double)((int64_t)(json_real_value(value) * 1000.0 + 0.5) +
			 offset_ns) /
			1000.0);
}

static enum dist_error copy_event(const json_t *value, void *arg,
				  struct dist_message *message)
{
	struct merge *merge = arg;
	int64_t offset_ns = merge->part_base_ns - merge->base_ns;
	json_t *event = json_deep_copy(value);
	json_t *args = json_object_get(event, "args");
	enum dist_error error;

	if (event && (shift(event, "ts", offset_ns) ||
		      shift(args, "issued_us", offset_ns) ||
		      shift(args, "started_us", offset_ns))) {
		json_decref(event);
		event = NULL;
	}
	error = dist__trace_event(merge->output, event, &merge->first);
	if (error)
		snprintf(message->text, sizeof message->text, "out of memory");
	return error;
}

/* Makes the part of a rank that was killed, of what it had; *missing: it had
 * nothing. */
static enum dist_error recover(const char *part, bool *missing,
			       struct dist_message *message)
{
	char live[4096];
	int len = snprintf(live, sizeof live, "%s" DIST__SPILL_SUFFIX, part);
	enum dist_error error;

	if (len < 0 || (size_t)len >= sizeof live || access(live, F_OK) != 0)
		return DIST_OK;
	error = dist__spill_finish(part, message);
	if (error == DIST_ERR_UNAVAILABLE)
		return DIST_OK;
	*missing = error != DIST_OK;
	return error;
}

/* Reads the part of rank, all of it or its head only; a missing one is passed
 * over, and then *missing is true. */
static enum dist_error read_part(struct merge *merge, const char *path,
				 int rank, bool *missing,
				 struct dist_message *message)
{
	struct dist__trace_visitor visitor = {
		keep_head, merge->output ? copy_event : NULL, merge};
	char *part = part_path(path, rank);
	enum dist_error error = DIST_OK;

	*missing = true;
	if (!part)
		return DIST_ERR_NO_MEMORY;
	merge->part_base_ns = INT64_MAX;
	*missing = access(part, F_OK) != 0;
	if (*missing)
		error = recover(part, missing, message);
	if (!error && !*missing)
		error = dist__trace_visit(part, &visitor, message);
	free(part);
	return error;
}

static enum dist_error read_heads(struct merge *merge, const char *path,
				  int world_size, struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	bool missing, any = false;

	merge->base_ns = INT64_MAX;
	for (int rank = 0; !error && rank < world_size; rank++) {
		error = read_part(merge, path, rank, &missing, message);
		any = any || !missing;
		if (!error && merge->part_base_ns < merge->base_ns)
			merge->base_ns = merge->part_base_ns;
	}
	if (!error && !any) {
		snprintf(message->text, sizeof message->text,
			 "%.300s: no rank wrote its part of the trace", path);
		error = DIST_ERR_IO;
	}
	return error;
}

static enum dist_error write_merged(struct merge *merge, const char *path,
				    int world_size,
				    struct dist_message *message)
{
	enum dist_error error;
	bool missing;

	error = dist__output_open(path, &merge->output, message);
	if (error)
		return error;
	error = dist__trace_begin(merge->output, merge->base_ns,
				  merge->distributed, merge->facts);
	for (int rank = 0; !error && rank < world_size; rank++)
		error = read_part(merge, path, rank, &missing, message);
	if (error) {
		dist__output_abandon(merge->output);
		return error;
	}
	dist__trace_end(merge->output);
	return dist__output_close(merge->output, message);
}

enum dist_error dist__recorder_merge(const char *path, int world_size,
				     struct dist_message *message)
{
	struct merge merge = {.first = true};
	enum dist_error error;

	snprintf(message->text, sizeof message->text, "out of memory");
	error = read_heads(&merge, path, world_size, message);
	if (!error)
		error = write_merged(&merge, path, world_size, message);
	for (int rank = 0; rank < world_size; rank++) {
		char *part = part_path(path, rank);

		if (part) {
			unlink(part);
			strcat(part, DIST__SPILL_SUFFIX);
			unlink(part);
		}
		free(part);
	}
	json_decref(merge.distributed);
	json_decref(merge.facts);
	return error;
}
