/* merge.c - one trace of what the ranks of a job have spilled. */
#include "trace/recorder.h"

#include <unistd.h>

#include "base/refuse.h"
#include "trace/placed.h"
#include "trace/spill.h"
#include "trace/write.h"

struct merge {
	const char *path;
	int64_t base_ns; /* of the earliest event of all */
	bool any;        /* there is a part */
	struct dist__trace_file file;
};

/* The clock is that of the host: its parts need no shift to each other. */
static enum dist_error find_start(struct merge *merge,
				  struct dist__recording *part,
				  struct dist_message *message)
{
	int64_t start_ns = dist__recording_start_ns(part);

	(void)message;
	merge->any = true;
	if (start_ns < merge->base_ns)
		merge->base_ns = start_ns;
	return DIST_OK;
}

static enum dist_error add(struct merge *merge, struct dist__recording *part,
			   struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	part->part = -1;
	if (!merge->file.output)
		error = dist__trace_begin(&merge->file, part, merge->base_ns,
					  merge->path, message);
	if (!error)
		dist__trace_add(&merge->file, part);
	return error;
}

/* Does something with the part of each rank in turn; a missing one is passed
 * over. */
static enum dist_error
for_each(struct merge *merge, int world_size,
	 enum dist_error (*act)(struct merge *merge,
				struct dist__recording *part,
				struct dist_message *message),
	 struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	struct dist__spilled spilled;
	char path[4096];

	for (int rank = 0; !error && rank < world_size; rank++) {
		dist__spill_name(merge->path, rank, path, sizeof path);
		error = dist__spill_load(path, &spilled);
		if (error == DIST_ERR_NO_MEMORY)
			(void)dist__refuse(message, "out of memory");
		error = error == DIST_ERR_UNAVAILABLE ? DIST_OK
			: error                       ? error
				: act(merge, &spilled.recording, message);
		dist__spilled_release(&spilled);
	}
	return error;
}

enum dist_error dist__recorder_merge(const char *path, int world_size,
				     struct dist_message *message)
{
	struct merge merge = {.path = path, .base_ns = INT64_MAX};
	enum dist_error error =
		for_each(&merge, world_size, find_start, message);
	char part[4096];

	if (!error && !merge.any)
		error = dist__refuse_as(
			message, DIST_ERR_IO,
			"%.300s: no rank wrote its part of the trace", path);
	if (!error)
		error = for_each(&merge, world_size, add, message);
	if (merge.file.output) {
		merge.file.error = error ? error : merge.file.error;
		error = dist__trace_end(&merge.file, message);
	}
	for (int rank = 0; rank < world_size; rank++) {
		dist__spill_name(path, rank, part, sizeof part);
		unlink(part);
	}
	return error;
}
