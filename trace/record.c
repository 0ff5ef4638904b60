#include "base/array.h"
#include "base/file_limit.h"
#include "base/refuse.h"
#include "trace/recorder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "coll/algorithm.h"
#include "trace/events.h"
#include "trace/placed.h"
#include "trace/spill.h"
#include "trace/write.h"

/*
 * The recorder is a back end around a back end. The end of an operation is
 * reported by on_end, on the thread that ended it; so only the list of events
 * is shared, and the mutex guards it. Simulated ranks share one recorder and
 * one thread; a real rank has its own, shared with its lanes.
 */
struct recorder {
	struct dist__recorder base; /* first: it is what others know */
	pthread_mutex_t mutex;
	struct dist__recording recording; /* owns the tracks and the facts */
	struct dist__fact *facts;         /* and their values */
	bool lost; /* an event was lost for want of memory */
	struct name *names;
	/* Of a real rank: where the events are instead; NULL: nowhere. */
	struct dist__spill *spill;
	char live[4096]; /* its file */
	bool is_merged;
	char path[];
};

/* The name of a function, which is borrowed where it is used. */
struct name {
	struct name *next;
	char text[];
};

struct recording_backend {
	struct dist__backend backend;
	struct dist__backend *inner; /* owned */
	struct recorder *recorder;
	struct dist__track *track;    /* the recorder's: outlives us */
	struct dist__members members; /* a copy: its list is borrowed */
};

static struct recording_backend *of(struct dist__backend *b)
{
	return (struct recording_backend *)b;
}

/* ---- keeping events --------------------------------------------------- */

/* Locked. */
static void keep_on(struct recorder *recorder, struct dist__track *track,
		    const struct dist__event *event)
{
	if (recorder->spill) {
		dist__spill_event(recorder->spill, track->spilled, event);
		free(event->splits);
		return;
	}
	if (dist__array_add(&track->events, &track->num_events, event,
			    sizeof *event))
		return;
	free(event->splits);
	recorder->lost = true;
}

static void keep(struct recording_backend *self,
		 const struct dist__event *event)
{
	pthread_mutex_lock(&self->recorder->mutex);
	keep_on(self->recorder, self->track, event);
	pthread_mutex_unlock(&self->recorder->mutex);
}

static int list_lengths(size_t *lengths, const struct dist__parts *parts)
{
	if (!parts->list && !parts->splits)
		return 0;
	for (int i = 0; i < parts->count && i < DIST__LISTED_RANKS; i++)
		lengths[i] = dist__part(parts, i).numel;
	return parts->count;
}

/* The caller takes its lists back when the operation is done: hence a copy. */
static struct dist__splits *splits_new(const struct dist__op *op)
{
	struct dist__splits *splits = malloc(sizeof *splits);

	if (!splits)
		return NULL;
	splits->num_in = list_lengths(splits->in, &op->sides->in);
	splits->num_out = list_lengths(splits->out, &op->sides->out);
	return splits;
}

/* What goes in and what comes out of an op with parts, else the tensor. A rank
 * that is not the root counts as if it was, as in the profiler. */
static void count_numel(struct dist__event *event, const struct dist__op *op)
{
	event->in_numel = event->out_numel = op->tensor.numel;
	if (op->kind == DIST__ALL_TO_ALL)
		event->out_numel = dist__parts_before(&op->sides->out,
						      op->sides->out.count);
	if (op->kind == DIST__ALL_GATHER || op->kind == DIST__GATHER)
		event->out_numel = event->numel;
	if (op->kind == DIST__REDUCE_SCATTER || op->kind == DIST__SCATTER ||
	    op->kind == DIST__ALL_TO_ALL)
		event->in_numel = event->numel;
}

static void keep_op(struct recording_backend *self, const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);
	int peer = dist__op_is_any(op) ? op->source : op->peer;
	struct dist__event event = {
		.issued_ns = op->issued_ns,
		.started_ns = op->started_ns,
		.ended_ns = op->ended_ns,
		.name = op->algorithm ? op->algorithm->name : NULL,
		.link = op->link,
		.purpose = op->purpose ? op->purpose->name : NULL,
		.file = op->site.file,
		.numel = dist__op_numel(op, self->members.world_size),
		.line = op->site.line,
		.peer = dist__global_rank(&self->members, peer),
		.peer_in_group = peer,
		.tag = op->tag,
		.seq = op->seq,
		.call = op->call,
		.kind = (uint8_t)op->kind,
		.in_one = !sides->in.list && !sides->out.list,
		.any = dist__op_is_any(op),
		.dtype = (uint8_t)op->tensor.dtype,
		.reduce_op = (uint8_t)op->reduce_op,
		.error = (int8_t)op->error,
	};

	count_numel(&event, op);
	if (op->kind == DIST__ALL_TO_ALL)
		event.splits = splits_new(op);
	/* An operation that failed before its turn never started. */
	if (event.started_ns < event.issued_ns)
		event.started_ns = event.issued_ns;
	if (event.ended_ns < event.started_ns)
		event.ended_ns = event.started_ns;
	keep(self, &event);
}

/* ---- hearing of an operation's end ------------------------------------ */

static void on_end(struct dist__op *op, void *arg)
{
	keep_op(arg, op);
}

/* Nobody else waits for it. */
static void listen(struct recording_backend *self, struct dist__op *op)
{
	assert(!op->on_end);
	op->on_end = on_end;
	op->on_end_arg = self;
}

/* ---- the back end ----------------------------------------------------- */

static enum dist_error record_run(struct dist__backend *b, struct dist__op *op)
{
	listen(of(b), op);
	return of(b)->inner->ops->run(of(b)->inner, op);
}

static enum dist_error record_submit(struct dist__backend *b,
				     struct dist__op *op)
{
	enum dist_error error;

	listen(of(b), op);
	error = of(b)->inner->ops->submit(of(b)->inner, op);
	if (error)
		op->on_end = NULL;
	return error;
}

static enum dist_error record_wait(struct dist__backend *b, struct dist__op *op,
				   int64_t deadline_ns)
{
	struct dist__backend *inner = of(b)->inner;

	return inner->ops->wait(inner, op, deadline_ns);
}

static bool record_test(struct dist__backend *b, struct dist__op *op)
{
	struct dist__backend *inner = of(b)->inner;

	return inner->ops->test(inner, op);
}

static int64_t record_now_ns(struct dist__backend *b)
{
	struct dist__backend *inner = of(b)->inner;

	return inner->ops->now_ns(inner);
}

static enum dist_error record_compute(struct dist__backend *b,
				      int64_t duration_ns, const char *label)
{
	struct recording_backend *self = of(b);
	struct dist__event event = {
		.started_ns = self->inner->ops->now_ns(self->inner),
		.name = label,
		.peer = -1,
		.peer_in_group = -1,
		.tag = -1,
		.call = self->track->num_computes++,
		.kind = DIST__EVENT_COMPUTE,
	};
	enum dist_error error =
		self->inner->ops->compute(self->inner, duration_ns, label);

	event.issued_ns = event.started_ns;
	event.ended_ns = self->inner->ops->now_ns(self->inner);
	event.error = (int8_t)error;
	keep(self, &event);
	return error;
}

static void record_abort(struct dist__backend *b)
{
	struct dist__backend *inner = of(b)->inner;

	inner->ops->abort(inner);
}

static const char *failure_text(struct dist__backend *b)
{
	struct dist__backend *inner = of(b)->inner;

	return inner->ops->failure_text ? inner->ops->failure_text(inner) : "";
}

static void record_free(struct dist__backend *b)
{
	struct dist__backend *inner = of(b)->inner;

	inner->ops->free(inner);
	free(of(b));
}

static const struct dist__backend_ops recording_ops = {
	.run = record_run,
	.submit = record_submit,
	.wait = record_wait,
	.test = record_test,
	.now_ns = record_now_ns,
	.compute = record_compute,
	.abort = record_abort,
	.failure_text = failure_text,
	.free = record_free,
};

/* ---- the recorder ----------------------------------------------------- */

/* Locked. */
static void add_track(struct recorder *recorder, struct dist__track *track)
{
	track->next = recorder->recording.tracks;
	recorder->recording.tracks = track;
	if (recorder->spill)
		track->spilled = dist__spill_track(recorder->spill, track);
}

static struct dist__track *track_new(const struct dist__members *members)
{
	struct dist__track *track = calloc(1, sizeof *track);

	if (!track)
		return NULL;
	track->rank = dist__global_rank(members, members->rank);
	track->rank_in_group = members->rank;
	track->group_id = members->group_id;
	snprintf(track->name, sizeof track->name, "%s",
		 members->name ? members->name : "0");
	if (members->description)
		snprintf(track->description, sizeof track->description, "%s",
			 members->description);
	track->world_size = members->world_size;
	for (int i = 0; i < members->world_size && i < DIST__LISTED_RANKS; i++)
		track->listed[i] = dist__global_rank(members, i);
	return track;
}

static struct dist__backend *wrap(struct dist__recorder *base,
				  struct dist__backend *inner,
				  const struct dist__members *members)
{
	struct recorder *recorder = (struct recorder *)base;
	struct recording_backend *self = calloc(1, sizeof *self);
	struct dist__track *track = track_new(members);

	if (!self || !track) {
		free(self);
		free(track);
		return NULL;
	}
	self->backend.ops = &recording_ops;
	self->inner = inner;
	self->recorder = recorder;
	self->track = track;
	self->members = *members;
	pthread_mutex_lock(&recorder->mutex);
	add_track(recorder, track);
	pthread_mutex_unlock(&recorder->mutex);
	return &self->backend;
}

/* ---- remote calls ------------------------------------------------------- */

/* The recorder's own copy of text; NULL: no memory. Locked. */
static const char *own_name(struct recorder *recorder, const char *text)
{
	size_t len = strlen(text) + 1;
	struct name *name = recorder->names;

	while (name && strcmp(name->text, text) != 0)
		name = name->next;
	if (name)
		return name->text;
	name = malloc(sizeof *name + len);
	if (!name)
		return NULL;
	memcpy(name->text, text, len);
	name->next = recorder->names;
	recorder->names = name;
	return name->text;
}

/* The track of the remote calls of rank; NULL: no memory. Locked. */
static struct dist__track *remote_track(struct recorder *recorder, int rank)
{
	const struct dist__members self = {.group_id = DIST__TRACK_REMOTE,
					   .first = rank,
					   .world_size = 1,
					   .name = "rpc"};
	struct dist__track *track = recorder->recording.tracks;

	while (track &&
	       (track->rank != rank || track->group_id != DIST__TRACK_REMOTE))
		track = track->next;
	if (track)
		return track;
	track = track_new(&self);
	if (track)
		add_track(recorder, track);
	return track;
}

static void record_remote(struct dist__recorder *base,
			  const struct dist__remote_span *span)
{
	struct recorder *recorder = (struct recorder *)base;
	struct dist__event event = {.issued_ns = span->issued_ns,
				    .started_ns = span->started_ns,
				    .ended_ns = span->ended_ns,
				    .purpose = span->op,
				    .file = span->file,
				    .line = span->line,
				    .numel = (size_t)span->call,
				    .peer = span->other,
				    .peer_in_group = span->other,
				    .tag = -1,
				    .kind = span->served ? DIST__EVENT_SERVED
							 : DIST__EVENT_REMOTE,
				    .error = (int8_t)span->error};
	struct dist__track *track;

	if (event.started_ns < event.issued_ns)
		event.started_ns = event.issued_ns;
	if (event.ended_ns < event.started_ns)
		event.ended_ns = event.started_ns;
	pthread_mutex_lock(&recorder->mutex);
	track = remote_track(recorder, span->rank);
	event.name = own_name(recorder, span->function);
	if (track && event.name)
		keep_on(recorder, track, &event);
	else
		recorder->lost = true;
	pthread_mutex_unlock(&recorder->mutex);
}

/* ---- the end ------------------------------------------------------------ */

static void recorder_free(struct recorder *recorder)
{
	struct dist__track *track = recorder->recording.tracks, *next;

	for (; track; track = next) {
		next = track->next;
		for (size_t i = 0; i < track->num_events; i++)
			free(track->events[i].splits);
		free(track->events);
		free(track);
	}
	while (recorder->names) {
		struct name *name = recorder->names;

		recorder->names = name->next;
		free(name);
	}
	pthread_mutex_destroy(&recorder->mutex);
	for (size_t i = 0; i < recorder->recording.num_facts; i++)
		free((char *)recorder->facts[i].value);
	free(recorder->facts);
	free(recorder);
}

/* Closes the file of events. Where nobody merges it, a trace of this rank is
 * made of it. */
static enum dist_error end_spill(struct recorder *recorder,
				 struct dist_message *message)
{
	int reason = dist__spill_close(recorder->spill);
	enum dist_error error = DIST_OK;
	struct dist__spilled spilled;

	if (!recorder->is_merged) {
		error = dist__spill_load(recorder->live, &spilled);
		if (error)
			(void)dist__refuse(message, "%.300s: cannot be read",
					   recorder->live);
		else
			error = dist__trace_write(&spilled.recording,
						  recorder->path, message);
		dist__spilled_release(&spilled);
		if (!error)
			unlink(recorder->live);
	}
	if (error || !reason)
		return error;
	return dist__refuse_as(message, DIST_ERR_IO, "%.300s: incomplete: %s",
			       recorder->path, strerror(reason));
}

enum dist_error dist__recorder_trace(const struct dist__recorder *base,
				     struct dist__trace *trace)
{
	const struct recorder *recorder = (const struct recorder *)base;

	if (recorder->lost)
		return DIST_ERR_NO_MEMORY;
	return dist__trace_of_events(&recorder->recording, trace);
}

static enum dist_error finish(struct dist__recorder *base,
			      struct dist_message *message)
{
	struct recorder *recorder = (struct recorder *)base;
	enum dist_error error = DIST_OK;

	if (recorder->spill)
		error = end_spill(recorder, message);
	else if (recorder->is_merged)
		error = dist__refuse_as(message, DIST_ERR_IO,
					"%.300s: cannot be written",
					recorder->live);
	else if (recorder->path[0])
		error = dist__trace_write(&recorder->recording, recorder->path,
					  message);
	if (!error && recorder->lost)
		error = dist__refuse_as(
			message, DIST_ERR_NO_MEMORY,
			"%.300s: incomplete: events were lost for want of "
			"memory",
			recorder->path);
	recorder_free(recorder);
	return error;
}

struct dist__recorder *dist__recorder_new(const char *path, int part,
					  int world_size, bool is_merged)
{
	size_t room = (path ? strlen(path) : 0) + 32;
	struct recorder *recorder = calloc(1, sizeof *recorder + room);

	if (!recorder)
		return NULL;
	if (pthread_mutex_init(&recorder->mutex, NULL) != 0) {
		free(recorder);
		return NULL;
	}
	recorder->is_merged = is_merged;
	recorder->recording = (struct dist__recording){.world_size = world_size,
						       .part = part};
	snprintf(recorder->path, room, "%s", path ? path : "");
	if (part >= 0) {
		snprintf(recorder->path, room, "%s.rank%d", path, part);
		dist__spill_name(path, part, recorder->live,
				 sizeof recorder->live);
		/* Where the file cannot be, memory does. */
		recorder->spill =
			dist__spill_new(recorder->live, world_size, part);
	}
	recorder->base = (struct dist__recorder){
		.wrap = wrap, .remote = record_remote, .finish = finish};
	return &recorder->base;
}

void dist__recorder_add_fact(struct dist__recorder *base, const char *key,
			     const char *format, ...)
{
	struct recorder *recorder = (struct recorder *)base;
	struct dist__fact fact = {.key = key};
	char text[4352];
	va_list args;

	if (!recorder)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fact.value = strdup(text);
	if (!fact.value)
		return;
	if (recorder->spill)
		dist__spill_fact(recorder->spill, &fact);
	if (!dist__array_add(&recorder->facts, &recorder->recording.num_facts,
			     &fact, sizeof fact))
		free((char *)fact.value);
	recorder->recording.facts = recorder->facts;
}

/* ---- one trace of what the ranks of a job have spilled --------------------
 */

struct merge {
	const char *path;
	int64_t base_ns; /* of the earliest event of all */
	bool any;        /* there is a part */
	int status;      /* of the job */
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

/* Begins the trace with the facts of part, and how the job ended. */
static enum dist_error begin_whole(struct merge *merge,
				   const struct dist__recording *part,
				   struct dist_message *message)
{
	size_t num = part->num_facts;
	struct dist__fact *facts = malloc((num + 1) * sizeof *facts);
	struct dist__recording head = *part;
	enum dist_error error;
	char text[64];

	if (!facts)
		return dist__refuse_as(message, DIST_ERR_NO_MEMORY,
				       "out of memory");
	for (size_t i = 0; i < num; i++)
		facts[i] = part->facts[i];
	snprintf(text, sizeof text, "the job ended with status %d",
		 merge->status);
	facts[num] = (struct dist__fact){.key = "partial", .value = text};
	head.facts = facts;
	head.num_facts += merge->status != 0;
	error = dist__trace_begin(&merge->file, &head, merge->base_ns,
				  merge->path, message);
	free(facts);
	return error;
}

static enum dist_error add_part(struct merge *merge,
				struct dist__recording *part,
				struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	part->part = -1;
	if (!merge->file.output)
		error = begin_whole(merge, part, message);
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

int dist__recorder_hold(const char *path)
{
	char part[4096];
	int fd, error;

	dist__spill_name(path, 0, part, sizeof part);
	fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || (flock(fd, LOCK_EX | LOCK_NB) == 0 && !ftruncate(fd, 0)))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* No rank wrote its part. Who tries to make one learns why, unless they ended
 * before they could. */
static enum dist_error refuse_parts(const char *path,
				    struct dist_message *message)
{
	struct dist__spill *spill;
	char part[4096];

	dist__spill_name(path, 0, part, sizeof part);
	spill = dist__spill_new(part, 1, 0);
	if (!spill)
		return dist__refuse_as(message, DIST_ERR_IO,
				       "%.300s: cannot be written: %s", path,
				       dist__file_why(errno));
	(void)dist__spill_close(spill);
	return dist__refuse_as(message, DIST_ERR_IO,
			       "%.300s: no rank wrote its part of the trace",
			       path);
}

enum dist_error dist__recorder_merge(const char *path, int world_size,
				     int status, struct dist_message *message)
{
	struct merge merge = {
		.path = path, .base_ns = INT64_MAX, .status = status};
	enum dist_error error =
		for_each(&merge, world_size, find_start, message);
	char part[4096];

	if (!error && !merge.any)
		error = refuse_parts(path, message);
	if (!error)
		error = for_each(&merge, world_size, add_part, message);
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
