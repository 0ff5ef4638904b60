#include "trace/write.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/refuse.h"
#include "base/text.h"
#include "trace/placed.h"

/* Enough digits that a time of up to 10^12 us, eleven days, keeps its
 * nanoseconds: 15 is what every decimal survives in a double. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* ---- values ----------------------------------------------------------- */

/* Text that is no UTF-8, as the name of a file may be, loses its odd bytes. */
static struct json_t *text_value(const char *text)
{
	struct json_t *value = json_string(text);
	char *copy;

	if (value || !(copy = malloc(strlen(text) + 1)))
		return value;
	for (size_t i = 0; i == 0 || text[i - 1]; i++)
		copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
	value = json_string(copy);
	free(copy);
	return value;
}

static struct json_t *us_value(int64_t ns)
{
	return json_real((double)ns / 1000.0);
}

/* An object being filled, which remembers whether memory was short. */
struct object {
	struct json_t *json;
	bool failed;
};

static void set(struct object *object, const char *key, struct json_t *value)
{
	if (json_object_set_new(object->json, key, value) != 0)
		object->failed = true;
}

static void set_text(struct object *object, const char *key, const char *text)
{
	set(object, key, text_value(text));
}

static void set_number(struct object *object, const char *key, int64_t number)
{
	set(object, key, json_integer(number));
}

static struct json_t *finished(struct object *object)
{
	if (!object->failed)
		return object->json;
	json_decref(object->json);
	return NULL;
}

/* ---- the profiler's words --------------------------------------------- */

static const char *profiler_op(const struct dist__event *event)
{
	enum dist__op_kind kind = (enum dist__op_kind)event->kind;
	const struct dist__splits *splits = event->splits;

	if (kind == DIST__ALL_REDUCE)
		return "allreduce";
	if (kind == DIST__ALL_GATHER && event->in_one)
		return "_allgather_base";
	if (kind == DIST__REDUCE_SCATTER && event->in_one)
		return "_reduce_scatter_base";
	if (kind == DIST__ALL_TO_ALL && event->in_one && splits &&
	    splits->num_in + splits->num_out > 0)
		return "all_to_allv";
	return dist__op_name(kind);
}

/* As c10::ScalarType prints. A barrier, which carries nothing, counts as
 * bytes there. */
static const char *profiler_dtype(const struct dist__event *event)
{
	if (event->kind == DIST__BARRIER ||
	    event->kind == DIST__MONITORED_BARRIER)
		return "Byte";
	return dist__torch_dtype((enum dist_dtype)event->dtype);
}

/* count numbers, of which those that are listed are sizes or ranks. */
static void set_list(struct object *args, const char *key, const size_t *sizes,
		     const int *ranks, int count)
{
	char text[24 * DIST__LISTED_RANKS] = "[";

	for (int i = 0; i < count && i < DIST__LISTED_RANKS; i++)
		(void)dist__append(
			text, sizeof text, "%s%lld", i > 0 ? ", " : "",
			sizes ? (long long)sizes[i] : (long long)ranks[i]);
	(void)dist__append(text, sizeof text, "%s]",
			   count > DIST__LISTED_RANKS ? ", ..." : "");
	set_text(args, key, text);
}

/* "Rank" is, as in the profiler, the peer of a message. */
static void set_profiler_args(struct object *args,
			      const struct dist__track *track,
			      const struct dist__event *event)
{
	bool p2p = dist__op_is_p2p((enum dist__op_kind)event->kind);
	const struct dist__splits *splits = event->splits;
	const char *description = track->description;

	if (!description[0])
		description = track->group_id == 0 ? "default_pg" : "undefined";
	/* The profiler knows nothing of how groups come to be, so a reader that
	 * counts collectives shall not either. */
	if (!event->purpose)
		set_text(args, "Collective name", profiler_op(event));
	set_text(args, "dtype", profiler_dtype(event));
	set_number(args, "In msg nelems", (int64_t)event->in_numel);
	set_number(args, "Out msg nelems", (int64_t)event->out_numel);
	set_list(args, "In split size", splits ? splits->in : NULL, NULL,
		 splits ? splits->num_in : 0);
	set_list(args, "Out split size", splits ? splits->out : NULL, NULL,
		 splits ? splits->num_out : 0);
	set_number(args, "Group size", track->world_size);
	set_text(args, "Process Group Name", track->name);
	set_text(args, "Process Group Description", description);
	set_list(args, "Process Group Ranks", NULL, track->listed,
		 track->world_size);
	set_number(args, "Rank",
		   p2p ? event->peer_in_group : track->rank_in_group);
	if (event->kind == DIST__SEND)
		set_number(args, "Dst Rank", event->peer);
	else if (event->kind == DIST__RECV)
		set_number(args, "Src Rank", event->peer);
	set_number(args, "Seq", event->seq);
}

/* Where the call stands, and how it failed. */
static void set_site(struct object *args, const struct dist__event *event)
{
	if (event->file) {
		set_text(args, "file", event->file);
		set_number(args, "line", event->line);
	}
	if (event->error)
		set_text(args, "error",
			 dist_error_string((enum dist_error)event->error));
}

static void set_own_args(struct object *args, const struct dist__event *event,
			 int64_t base_ns)
{
	enum dist__op_kind kind = (enum dist__op_kind)event->kind;

	if (event->name)
		set_text(args, "algorithm", event->name);
	if (event->link)
		set_text(args, "link", event->link);
	if (dist__op_reduces(kind))
		set_text(args, "reduce_op",
			 dist_reduce_op_name(
				 (enum dist_reduce_op)event->reduce_op));
	if (!dist__op_is_p2p(kind) && event->peer >= 0)
		set_number(args, "root", event->peer_in_group);
	if (dist__op_is_p2p(kind))
		set_number(args, "tag", event->tag);
	if (event->any)
		set_number(args, "any_source", 1);
	set_number(args, "size_bytes",
		   (int64_t)(event->numel *
			     dist_dtype_size((enum dist_dtype)event->dtype)));
	set(args, "issued_us", us_value(event->issued_ns - base_ns));
	set(args, "started_us", us_value(event->started_ns - base_ns));
	set_site(args, event);
}

/* ---- events ----------------------------------------------------------- */

/* What all events that take time have. */
static struct object span_object(const struct dist__placed *placed,
				 const char *category, const char *name,
				 int64_t base_ns)
{
	const struct dist__event *event = placed->event;
	struct object object = {json_object(), false};

	set_text(&object, "ph", "X");
	set_text(&object, "cat", category);
	set_text(&object, "name", name);
	set_number(&object, "pid", placed->track->rank);
	set_number(&object, "tid", placed->thread);
	set(&object, "ts", us_value(event->started_ns - base_ns));
	set(&object, "dur", us_value(event->ended_ns - event->started_ns));
	return object;
}

static struct json_t *complete_event(const struct dist__placed *placed,
				     int64_t base_ns)
{
	const struct dist__event *event = placed->event;
	bool compute = event->kind == DIST__EVENT_COMPUTE;
	struct object object, args = {json_object(), false};
	const char *call = event->purpose;
	char name[64];

	if (!call && !compute)
		call = dist__op_name((enum dist__op_kind)event->kind);
	snprintf(name, sizeof name, "lockstep:%s", compute ? "" : call);
	object = span_object(placed, compute ? "compute" : "communication",
			     compute ? event->name : name, base_ns);
	if (!compute) {
		set_profiler_args(&args, placed->track, event);
		set_own_args(&args, event, base_ns);
		set(&object, "args", finished(&args));
	} else {
		json_decref(args.json);
	}
	return finished(&object);
}

/* Writes one event and frees it; NULL: no memory for it. */
static enum dist_error write_event(struct dist__trace_file *file,
				   struct json_t *event)
{
	char *text = event ? json_dumps(event, DUMP_FLAGS) : NULL;

	json_decref(event);
	if (!text)
		return DIST_ERR_NO_MEMORY;
	dist__output_text(file->output, file->first ? "\n" : ",\n");
	dist__output_text(file->output, text);
	free(text);
	file->first = false;
	return DIST_OK;
}

/* Names a process or one of its threads for the viewer. */
static enum dist_error write_name(struct dist__trace_file *file,
				  const char *what, int rank, int thread,
				  const char *name)
{
	return write_event(file, json_pack("{ss ss si si s{ss}}", "name", what,
					   "ph", "M", "pid", rank, "tid",
					   thread, "args", "name", name));
}

static const char *thread_name(const struct dist__threads *threads, int thread)
{
	if (thread >= threads->own + threads->remote)
		return "served";
	if (thread >= threads->own)
		return "remote calls";
	if (thread == DIST__THREAD_COMPUTE)
		return "compute";
	return thread == DIST__THREAD_COMMUNICATION ? "communication"
						    : "point to point";
}

static enum dist_error write_names(struct dist__trace_file *file, int rank,
				   const struct dist__threads *threads)
{
	int num_threads = threads->own + threads->remote + threads->served;
	enum dist_error error;
	char name[32];

	snprintf(name, sizeof name, "rank %d", rank);
	error = write_name(file, "process_name", rank, 0, name);
	if (!error)
		error = write_event(file,
				    json_pack("{ss ss si si s{si}}", "name",
					      "process_sort_index", "ph", "M",
					      "pid", rank, "tid", 0, "args",
					      "sort_index", rank));
	for (int thread = 0; !error && thread < num_threads; thread++)
		error = write_name(file, "thread_name", rank, thread,
				   thread_name(threads, thread));
	return error;
}

/* ---- the file --------------------------------------------------------- */

static enum dist_error write_member(struct dist__output *output,
				    const char *key, const struct json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	if (!text)
		return DIST_ERR_NO_MEMORY;
	dist__output_print(output, "\"%s\": ", key);
	dist__output_text(output, text);
	dist__output_text(output, ",\n");
	free(text);
	return DIST_OK;
}

static enum dist_error write_head(struct dist__trace_file *file,
				  const struct dist__recording *recording)
{
	struct object distributed = {json_object(), false};
	struct object facts = {json_object(), false};
	enum dist_error error;

	for (size_t i = 0; i < recording->num_facts; i++) {
		const struct dist__fact *fact = &recording->facts[i];

		set_text(&facts, fact->key, fact->value);
		if (strcmp(fact->key, "backend") == 0)
			set_text(&distributed, "backend", fact->value);
	}
	if (recording->part >= 0)
		set_number(&distributed, "rank", recording->part);
	set_number(&distributed, "world_size", recording->world_size);
	dist__output_text(file->output, "{\n\"schemaVersion\": 1,\n"
					"\"displayTimeUnit\": \"ms\",\n");
	if (file->base_ns != INT64_MAX)
		dist__output_print(file->output,
				   "\"baseTimeNanoseconds\": %lld,\n",
				   (long long)file->base_ns);
	error = distributed.failed || facts.failed ? DIST_ERR_NO_MEMORY
						   : DIST_OK;
	if (!error)
		error = write_member(file->output, "distributedInfo",
				     distributed.json);
	if (!error)
		error = write_member(file->output, "lockstep", facts.json);
	dist__output_text(file->output, "\"traceEvents\": [");
	json_decref(distributed.json);
	json_decref(facts.json);
	return error;
}

/* ---- remote calls ------------------------------------------------------- */

static struct json_t *remote_event(const struct dist__placed *placed,
				   int64_t base_ns)
{
	const struct dist__event *event = placed->event;
	bool served = event->kind == DIST__EVENT_SERVED;
	struct object object, args = {json_object(), false};
	char name[192];

	if (served)
		snprintf(name, sizeof name, "%s for rank %d", event->name,
			 event->peer);
	else
		snprintf(name, sizeof name, "%s(%s) on rank %d", event->purpose,
			 event->name, event->peer);
	set_text(&args, "function", event->name);
	set_number(&args, served ? "caller" : "worker", event->peer);
	set_number(&args, "call", (int64_t)event->numel);
	set(&args, "issued_us", us_value(event->issued_ns - base_ns));
	set_site(&args, event);
	object = span_object(placed, served ? "served" : "rpc", name, base_ns);
	set(&object, "args", finished(&args));
	return finished(&object);
}

/* One end of the arrow from a call to its function, or from that back; it is
 * tied to the event that spans its time. */
static struct json_t *arrow(const struct dist__placed *placed, bool request,
			    int64_t base_ns)
{
	const struct dist__event *event = placed->event;
	bool served = event->kind == DIST__EVENT_SERVED;
	bool begins = request != served;
	int64_t at_ns = request ? event->started_ns : event->ended_ns;
	struct object object = {json_object(), false};
	char id[48];

	if (!request && event->ended_ns > event->started_ns)
		at_ns--;
	snprintf(id, sizeof id, "%d.%zu",
		 served ? event->peer : placed->track->rank, event->numel);
	set_text(&object, "ph", begins ? "s" : "f");
	if (!begins)
		set_text(&object, "bp", "e");
	set_text(&object, "cat", "rpc");
	set_text(&object, "name", request ? "request" : "reply");
	set_text(&object, "id", id);
	set_number(&object, "pid", placed->track->rank);
	set_number(&object, "tid", placed->thread);
	set(&object, "ts", us_value(at_ns - base_ns));
	return finished(&object);
}

static enum dist_error write_remote(struct dist__trace_file *file,
				    const struct dist__placed *placed)
{
	enum dist_error error =
		write_event(file, remote_event(placed, file->base_ns));

	/* A fetch of a value has no function. */
	for (int request = 1; *placed->event->name && !error && request >= 0;
	     request--)
		error = write_event(file,
				    arrow(placed, request, file->base_ns));
	return error;
}

static enum dist_error write_rank(void *arg, int rank,
				  const struct dist__placed *placed, size_t n,
				  const struct dist__threads *threads)
{
	struct dist__trace_file *file = arg;
	enum dist_error error = write_names(file, rank, threads);

	for (size_t i = 0; !error && i < n; i++)
		error = dist__event_is_remote(placed[i].event)
				? write_remote(file, &placed[i])
				: write_event(file,
					      complete_event(&placed[i],
							     file->base_ns));
	return error;
}

enum dist_error dist__trace_begin(struct dist__trace_file *file,
				  const struct dist__recording *recording,
				  int64_t base_ns, const char *path,
				  struct dist_message *message)
{
	*file = (struct dist__trace_file){
		.path = path, .base_ns = base_ns, .first = true};
	file->error = dist__output_open(path, &file->output, message);
	if (file->error)
		return file->error;
	file->error = write_head(file, recording);
	return DIST_OK;
}

void dist__trace_add(struct dist__trace_file *file,
		     const struct dist__recording *recording)
{
	if (!file->error)
		file->error =
			dist__recording_visit(recording, write_rank, file);
}

enum dist_error dist__trace_end(struct dist__trace_file *file,
				struct dist_message *message)
{
	if (file->error) {
		dist__output_abandon(file->output);
		return dist__refuse_as(
			message, file->error, "%.300s: cannot be written: %s",
			file->path, dist_error_string(file->error));
	}
	dist__output_text(file->output, "\n]\n}\n");
	return dist__output_close(file->output, message);
}

enum dist_error dist__trace_write(const struct dist__recording *recording,
				  const char *path,
				  struct dist_message *message)
{
	struct dist__trace_file file;
	enum dist_error error = dist__trace_begin(
		&file, recording, dist__recording_start_ns(recording), path,
		message);

	if (error)
		return error;
	dist__trace_add(&file, recording);
	return dist__trace_end(&file, message);
}
