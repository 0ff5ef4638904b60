#define _GNU_SOURCE /* strcasestr */

#include "trace/read.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/dtype.h"
#include "base/refuse.h"
#include "trace/stream.h"

/* Times in us whose nanoseconds a 64-bit integer holds with room to add. */
#define LATEST_US 4e15
/* Ranks and world sizes above this are no ranks. */
#define MOST_RANKS (1 << 24)

/* How an event tells of a communication. PyTorch's profiler tells of one
 * twice when a GPU does it: the call, and the kernel, which is the work. */
enum source { OWN, PROFILER_CALL, PROFILER_KERNEL };

struct reader {
	struct dist__trace *trace;
	int rank; /* the file's, if it is of one rank; -1 */
	bool has_kernels;
	unsigned char *sources; /* enum source of each call */
	size_t num_sources;
	size_t first_call; /* of the file, in the trace */
	size_t first_span; /* likewise */
	size_t untold;     /* kernels of NCCL that say nothing of their call */
	bool has_profile;  /* something of torch.profiler is in the trace */
};

/* ---- fields of an object ---------------------------------------------- */

/* Remembers the first member that was not what it should be. */
struct fields {
	const json_t *object;
	const char *bad;
	const char *expected;
};

static void blame(struct fields *fields, const char *key, const char *expected)
{
	if (fields->bad)
		return;
	fields->bad = key;
	fields->expected = expected;
}

static int64_t whole(struct fields *fields, const char *key, int64_t most,
		     int64_t otherwise)
{
	const json_t *value = json_object_get(fields->object, key);
	int64_t number = json_integer_value(value);

	if (!value)
		return otherwise;
	if (!json_is_integer(value) || number < -1 || number > most) {
		blame(fields, key, "a whole number in its range");
		return otherwise;
	}
	return number;
}

static int64_t time_ns(struct fields *fields, const char *key,
		       int64_t otherwise)
{
	const json_t *value = json_object_get(fields->object, key);
	double us = json_number_value(value);

	if (!value)
		return otherwise;
	if (!json_is_number(value) || !(us >= -LATEST_US && us <= LATEST_US)) {
		blame(fields, key, "a time in microseconds");
		return otherwise;
	}
	return llround(us * 1000.0);
}

static const char *text(struct fields *fields, const char *key)
{
	const json_t *value = json_object_get(fields->object, key);

	if (value && !json_is_string(value))
		blame(fields, key, "a string");
	return json_string_value(value);
}

static enum dist_error judged(const struct fields *fields,
			      struct dist_message *message)
{
	if (!fields->bad)
		return DIST_OK;
	return dist__refuse(message, "expected %s as \"%s\" of an event",
			    fields->expected, fields->bad);
}

static enum dist_error no_memory(struct dist_message *message)
{
	return dist__refuse_as(message, DIST_ERR_NO_MEMORY, "out of memory");
}

/* ---- the profiler's words --------------------------------------------- */

static const char *const ops[][2] = {
	{"allreduce", "all_reduce"},
	{"allreduce_coalesced", "all_reduce"},
	{"allgather", "all_gather"},
	{"_allgather_base", "all_gather_single"},
	{"allgather_into_tensor_coalesced", "all_gather_single"},
	{"reduce_scatter", "reduce_scatter"},
	{"_reduce_scatter_base", "reduce_scatter_single"},
	{"reduce_scatter_tensor_coalesced", "reduce_scatter_single"},
	{"all_to_all", "all_to_all"},
	{"all_to_allv", "all_to_all"},
};

/* An op in our words; what has none stays as it is. */
static const char *op_of(const char *theirs)
{
	for (size_t i = 0; theirs && i < sizeof ops / sizeof *ops; i++)
		if (strcmp(ops[i][0], theirs) == 0)
			return ops[i][1];
	return theirs;
}

/* ---- events ----------------------------------------------------------- */

static enum source source_of(const char *name, const char *category)
{
	if (name && strncmp(name, "lockstep:", 9) == 0)
		return OWN;
	return category && strcmp(category, "kernel") == 0 ? PROFILER_KERNEL
							   : PROFILER_CALL;
}

static bool add_rank(struct dist__trace *trace, int rank)
{
	size_t n = trace->num_ranks;

	return (n > 0 && trace->ranks[n - 1] == rank) ||
	       dist__array_add(&trace->ranks, &trace->num_ranks, &rank,
			       sizeof rank);
}

static bool add_call(struct reader *reader, const struct dist__trace_call *call,
		     enum source source)
{
	struct dist__trace *trace = reader->trace;
	unsigned char byte = (unsigned char)source;

	return dist__array_add(&reader->sources, &reader->num_sources, &byte,
			       1) &&
	       dist__array_add(&trace->calls, &trace->num_calls, call,
			       sizeof *call);
}

static void read_arguments(struct reader *reader, struct fields *args,
			   struct dist__trace_call *call)
{
	const char *name = text(args, "dtype");
	enum dist_dtype dtype =
		name ? dist__torch_dtype_find(name, strlen(name))
		     : DIST_NUM_DTYPES;

	call->op = dist__trace_intern(reader->trace,
				      op_of(text(args, "Collective name")));
	call->dtype = dist__trace_intern(
		reader->trace,
		dtype < DIST_NUM_DTYPES ? dist_dtype_name(dtype) : name);
	call->group = dist__trace_intern(reader->trace,
					 text(args, "Process Group Name"));
	call->group_size = (int)whole(args, "Group size", MOST_RANKS, 0);
	call->numel = whole(args, "In msg nelems", INT64_MAX / 16, 0);
	call->bytes = whole(args, "size_bytes", INT64_MAX,
			    call->numel * (int64_t)dist_dtype_size(dtype));
	call->peer = (int)whole(args, "Dst Rank", MOST_RANKS,
				whole(args, "Src Rank", MOST_RANKS, -1));
	/* Whom it heard may be another one in every run. */
	if (whole(args, "any_source", 1, 0))
		call->peer = -1;
	call->root = (int)whole(args, "root", MOST_RANKS, -1);
	call->tag = (int)whole(args, "tag", INT32_MAX, -1);
	call->algorithm =
		dist__trace_intern(reader->trace, text(args, "algorithm"));
	call->link = dist__trace_intern(reader->trace, text(args, "link"));
	call->reduce_op =
		dist__trace_intern(reader->trace, text(args, "reduce_op"));
	call->file = dist__trace_intern(reader->trace, text(args, "file"));
	call->line = (int)whole(args, "line", INT32_MAX, 0);
	call->error = dist__trace_intern(reader->trace, text(args, "error"));
	call->issued_ns = time_ns(args, "issued_us", call->started_ns);
	if (call->numel < 0 || call->bytes < 0 || call->group_size < 0)
		blame(args, "In msg nelems", "no negative count");
}

static enum dist_error read_call(struct reader *reader, struct fields *event,
				 struct fields *args,
				 struct dist_message *message)
{
	enum source source = source_of(text(event, "name"), text(event, "cat"));
	struct dist__trace_call call = {0};
	enum dist_error error;

	call.started_ns = time_ns(event, "ts", 0);
	call.ended_ns = call.started_ns + time_ns(event, "dur", 0);
	call.thread =
		source == OWN ? (int)whole(event, "tid", INT32_MAX, 1) : 1;
	/* The profiler's rank may stand at the end of the file. */
	call.rank = (int)(source == OWN ? whole(event, "pid", MOST_RANKS, 0)
					: whole(args, "Rank", MOST_RANKS, 0));
	read_arguments(reader, args, &call);
	if (call.ended_ns < call.started_ns)
		blame(event, "dur", "no negative time");
	if (call.rank < 0)
		blame(event, "pid", "a rank");
	error = judged(event, message);
	if (!error)
		error = judged(args, message);
	if (error)
		return error;
	if (!call.group)
		call.group = dist__trace_intern(reader->trace, "0");
	/* For now the place in the file; dist__trace_order() counts. */
	call.order = (uint32_t)reader->trace->num_calls;
	reader->has_kernels |= source == PROFILER_KERNEL;
	reader->has_profile |= source != OWN;
	if (!call.op || !call.group || !add_call(reader, &call, source))
		return no_memory(message);
	return DIST_OK;
}

/* A remote call, whose function is in args, or computing: NULL. */
static enum dist_error read_span(struct reader *reader, struct fields *event,
				 struct fields *args,
				 struct dist_message *message)
{
	struct dist__trace *trace = reader->trace;
	const char *label = args ? text(args, "function") : text(event, "name");
	struct dist__trace_span span = {
		.rank = (int)whole(event, "pid", MOST_RANKS, 0),
		.started_ns = time_ns(event, "ts", 0),
		.failed = args && text(args, "error"),
	};
	void *added = NULL;

	if (!label || !*label)
		label = args ? "to_here" : "compute";
	span.label = dist__trace_intern(trace, label);
	span.ended_ns = span.started_ns + time_ns(event, "dur", 0);
	if (span.ended_ns < span.started_ns)
		blame(event, "dur", "no negative time");
	if (span.rank < 0)
		blame(event, "pid", "a rank");
	if (event->bad)
		return judged(event, message);
	if (span.label && add_rank(trace, span.rank))
		added = args ? dist__array_add(&trace->remote,
					       &trace->num_remote, &span,
					       sizeof span)
			     : dist__array_add(&trace->spans, &trace->num_spans,
					       &span, sizeof span);
	return added ? DIST_OK : no_memory(message);
}

/* What a GPU did: computing, or a collective of which an old profiler says
 * nothing more. */
static enum dist_error read_kernel(struct reader *reader, struct fields *event,
				   struct dist_message *message)
{
	const char *name = text(event, "name");
	struct dist__trace_span span = {
		.rank = -1, /* known at the end of the file */
		.label = dist__trace_intern(reader->trace, "kernel"),
		.started_ns = time_ns(event, "ts", 0),
	};

	reader->has_profile = true;
	if (name && strncasecmp(name, "nccl", 4) == 0 &&
	    strcasestr(name, "kernel")) {
		reader->untold++;
		return judged(event, message);
	}
	span.ended_ns = span.started_ns + time_ns(event, "dur", 0);
	if (span.ended_ns < span.started_ns)
		blame(event, "dur", "no negative time");
	if (event->bad)
		return judged(event, message);
	return span.label && dist__array_add(&reader->trace->spans,
					     &reader->trace->num_spans, &span,
					     sizeof span)
		       ? DIST_OK
		       : no_memory(message);
}

static bool is(const json_t *event, const char *key, const char *value)
{
	const char *found = json_string_value(json_object_get(event, key));

	return found && strcmp(found, value) == 0;
}

/* A rank that did nothing is known by the name of its process. */
static enum dist_error read_name(struct reader *reader, const json_t *event,
				 struct dist_message *message)
{
	const json_t *pid = json_object_get(event, "pid");
	const char *name = json_string_value(
		json_object_get(json_object_get(event, "args"), "name"));
	int64_t rank = json_integer_value(pid);

	if (!json_is_integer(pid) || rank < 0 || rank > MOST_RANKS || !name ||
	    strncmp(name, "rank ", 5) != 0)
		return DIST_OK;
	return add_rank(reader->trace, (int)rank) ? DIST_OK
						  : no_memory(message);
}

static enum dist_error on_event(const json_t *value, void *arg,
				struct dist_message *message)
{
	struct reader *reader = arg;
	struct fields event = {.object = value};
	struct fields args = {.object = json_object_get(value, "args")};

	if (!json_is_object(value))
		return dist__refuse(message, "expected an object as event");
	if (is(value, "ph", "M") && is(value, "name", "process_name"))
		return read_name(reader, value, message);
	if (!is(value, "ph", "X"))
		return DIST_OK;
	if (is(args.object, "Collective name", "wait"))
		return DIST_OK;
	if (json_object_get(args.object, "Collective name"))
		return read_call(reader, &event, &args, message);
	if (is(value, "cat", "compute"))
		return read_span(reader, &event, NULL, message);
	if (is(value, "cat", "rpc"))
		return read_span(reader, &event, &args, message);
	if (is(value, "cat", "kernel"))
		return read_kernel(reader, &event, message);
	return DIST_OK;
}

/* ---- the head --------------------------------------------------------- */

/* One of "pg_config", unless another rank's file had it; what is not of the
 * form that torch has since 2024 is not known. */
static enum dist_error read_group(struct reader *reader, const json_t *value,
				  struct dist_message *message)
{
	const json_t *ranks = json_object_get(value, "ranks");
	struct dist__trace_group group = {
		.name = dist__trace_intern(
			reader->trace,
			json_string_value(json_object_get(value, "pg_name"))),
		.ranks = calloc(json_array_size(ranks) + 1, sizeof(int))};
	bool known = !group.name || !json_is_array(ranks);

	if (!group.ranks)
		return no_memory(message);
	for (size_t i = 0; i < reader->trace->num_groups; i++)
		known |= reader->trace->groups[i].name == group.name;
	for (; group.num_ranks < json_array_size(ranks); group.num_ranks++) {
		const json_t *rank = json_array_get(ranks, group.num_ranks);
		int64_t number = json_integer_value(rank);

		known |= !json_is_integer(rank) || number < 0 ||
			 number > MOST_RANKS;
		group.ranks[group.num_ranks] = (int)number;
	}
	if (!known &&
	    dist__array_add(&reader->trace->groups, &reader->trace->num_groups,
			    &group, sizeof group))
		return DIST_OK;
	free(group.ranks);
	return known ? DIST_OK : no_memory(message);
}

static enum dist_error read_distributed(struct reader *reader,
					const json_t *value,
					struct dist_message *message)
{
	const json_t *groups = json_object_get(value, "pg_config");
	struct dist__trace *trace = reader->trace;
	struct fields fields = {.object = value};
	int world_size = (int)whole(&fields, "world_size", MOST_RANKS, 0);
	enum dist_error error;

	reader->rank = (int)whole(&fields, "rank", MOST_RANKS, -1);
	trace->backend = dist__trace_intern(trace, text(&fields, "backend"));
	trace->nccl_version =
		dist__trace_intern(trace, text(&fields, "nccl_version"));
	error = judged(&fields, message);
	if (!error && trace->world_size && trace->world_size != world_size)
		error = dist__refuse(message,
				     "expected world_size %d as in the other "
				     "ranks' traces, got %d",
				     trace->world_size, world_size);
	trace->world_size = world_size;
	for (size_t i = 0; !error && i < json_array_size(groups); i++)
		error = read_group(reader, json_array_get(groups, i), message);
	return error;
}

/* All GPUs of a host are alike. */
static void read_devices(struct reader *reader, const json_t *value)
{
	const json_t *name = json_object_get(json_array_get(value, 0), "name");

	reader->trace->gpu =
		dist__trace_intern(reader->trace, json_string_value(name));
}

static enum dist_error add_text(struct reader *reader, const char *key,
				const char *value, struct dist_message *message)
{
	struct dist__trace *trace = reader->trace;
	const struct dist__trace_fact fact = {dist__trace_intern(trace, key),
					      dist__trace_intern(trace, value)};

	if (!fact.key || !fact.value ||
	    !dist__array_add(&trace->facts, &trace->num_facts, &fact,
			     sizeof fact))
		return no_memory(message);
	return DIST_OK;
}

static enum dist_error add_fact(struct reader *reader, const char *key,
				const json_t *value,
				struct dist_message *message)
{
	enum dist_error error;
	char *dump;

	if (json_is_string(value))
		return add_text(reader, key, json_string_value(value), message);
	dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	error = add_text(reader, key, dump, message);
	free(dump);
	return error;
}

static enum dist_error on_member(const char *name, const json_t *value,
				 void *arg, struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	/* The library's iterators take no const, and change nothing. */
	json_t *object = (json_t *)value, *fact;
	const char *key;

	if (strcmp(name, "distributedInfo") == 0)
		return read_distributed(arg, value, message);
	if (strcmp(name, "deviceProperties") == 0)
		read_devices(arg, value);
	if (strcmp(name, "lockstep") != 0)
		return DIST_OK;
	json_object_foreach(object, key, fact)
	{
		error = add_fact(arg, key, fact, message);
		if (error)
			break;
	}
	return error;
}

/* ---- one file --------------------------------------------------------- */

static enum dist_error set_ranks(struct reader *reader,
				 struct dist_message *message)
{
	struct dist__trace *trace = reader->trace;
	bool added = reader->rank < 0 || add_rank(trace, reader->rank);

	for (size_t i = reader->first_call; i < trace->num_calls; i++) {
		if (reader->sources[i] != OWN && reader->rank >= 0)
			trace->calls[i].rank = reader->rank;
		added &= add_rank(trace, trace->calls[i].rank);
	}
	for (size_t i = reader->first_span; i < trace->num_spans; i++) {
		if (trace->spans[i].rank < 0)
			trace->spans[i].rank =
				reader->rank >= 0 ? reader->rank : 0;
		added &= add_rank(trace, trace->spans[i].rank);
	}
	return added ? DIST_OK : no_memory(message);
}

/* Adds what the file holds to the trace. */
static enum dist_error read_file(struct reader *reader, const char *path,
				 struct dist_message *message)
{
	const struct dist__trace_visitor visitor = {on_member, on_event,
						    reader};
	enum dist_error error;

	reader->rank = -1;
	reader->has_kernels = false;
	reader->first_call = reader->trace->num_calls;
	reader->first_span = reader->trace->num_spans;
	error = dist__trace_visit(path, &visitor, message);
	if (error)
		return error;
	if (reader->has_kernels) {
		struct dist__trace *trace = reader->trace;
		size_t kept = reader->first_call;

		for (size_t i = kept; i < trace->num_calls; i++)
			if (reader->sources[i] != PROFILER_CALL) {
				reader->sources[kept] = reader->sources[i];
				trace->calls[kept++] = trace->calls[i];
			}
		trace->num_calls = reader->num_sources = kept;
	}
	for (size_t i = reader->first_call; i < reader->num_sources; i++)
		reader->trace->issue_times |=
			reader->sources[i] == PROFILER_CALL;
	return set_ranks(reader, message);
}

/* ---- a folder ----------------------------------------------------------- */

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* One of a folder: of a rank that no file before it has. */
static enum dist_error read_one_of(struct reader *reader, const char *path,
				   struct dist_message *message)
{
	const struct dist__trace *trace = reader->trace;
	size_t num_ranks = trace->num_ranks;
	enum dist_error error = read_file(reader, path, message);

	if (error)
		return error;
	if (reader->rank < 0)
		return dist__refuse(
			message,
			"%.300s: expected a trace of torch.profiler that says "
			"its rank (\"distributedInfo\"), as those of a folder",
			path);
	for (size_t i = 0; i < num_ranks; i++)
		if (trace->ranks[i] == reader->rank)
			return dist__refuse(
				message,
				"%.300s: expected one trace a rank, another of "
				"the folder is of rank %d, too",
				path, reader->rank);
	return DIST_OK;
}

static enum dist_error read_folder(struct reader *reader, const char *folder,
				   struct dist_message *message)
{
	char pattern[4096 + 16];
	glob_t found = {0};
	enum dist_error error = DIST_OK;
	int status;

	snprintf(pattern, sizeof pattern, "%.4095s/*.json", folder);
	status = glob(pattern, 0, NULL, &found);
	snprintf(pattern, sizeof pattern, "%.4095s/*.json.gz", folder);
	if (!status || status == GLOB_NOMATCH)
		status = glob(pattern, GLOB_APPEND, NULL, &found);
	if (status == GLOB_NOSPACE)
		error = no_memory(message);
	else if (found.gl_pathc == 0)
		error = dist__refuse(
			message,
			"%.300s: expected files *.json or *.json.gz, a trace "
			"of torch.profiler for each rank",
			folder);
	for (size_t i = 0; !error && i < found.gl_pathc; i++)
		error = read_one_of(reader, found.gl_pathv[i], message);
	globfree(&found);
	return error;
}

/* ---- the trace -------------------------------------------------------- */

/* What a user has to know of a profile. */
static enum dist_error tell(struct reader *reader, bool aligned,
			    struct dist_message *message)
{
	const struct dist__trace *trace = reader->trace;
	enum dist_error error = DIST_OK;
	char untold[160];

	snprintf(untold, sizeof untold,
		 "%zu kernels of NCCL do not tell their call, which profiles "
		 "of torch 2.4 and later do",
		 reader->untold);
	if (reader->untold)
		error = add_text(reader, "left out", untold, message);
	else if (trace->num_calls == 0 && trace->world_size > 1 &&
		 reader->rank >= 0)
		error = add_text(
			reader, "left out",
			"collectives: a profile tells only those of NCCL",
			message);
	if (!error && trace->issue_times)
		error = add_text(reader, "times",
				 "of collectives, how long the host took to "
				 "issue them: there are no kernels of theirs",
				 message);
	if (!error && aligned)
		error = add_text(
			reader, "clocks",
			"set so that collectives end at one time on all ranks",
			message);
	return error;
}

static enum dist_error finish(struct reader *reader, bool is_folder,
			      struct dist_message *message)
{
	struct dist__trace *trace = reader->trace;
	bool aligned = is_folder && trace->num_calls > 0 && !trace->issue_times;
	enum dist_error error = dist__trace_order(trace);

	if (!error && aligned)
		error = dist__trace_align(trace);
	if (error)
		return no_memory(message);
	if (reader->has_profile)
		dist__trace_from_zero(trace);
	return tell(reader, aligned, message);
}

enum dist_error dist__trace_read(const char *path, struct dist__trace *trace,
				 struct dist_message *message)
{
	struct reader reader = {.trace = trace};
	bool folder = is_folder(path);
	enum dist_error error;

	memset(trace, 0, sizeof *trace);
	snprintf(trace->path, sizeof trace->path, "%s", path);
	error = folder ? read_folder(&reader, path, message)
		       : read_file(&reader, path, message);
	if (!error)
		error = finish(&reader, folder, message);
	free(reader.sources);
	if (error)
		dist__trace_release(trace);
	return error;
}
