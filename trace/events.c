/* events.c - makes a trace of recorded events, without a file. */
#include "trace/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/placed.h"

/* What the events of the ranks are added to. */
struct adding {
	struct dist__trace *trace;
	int64_t base_ns;
	bool failed; /* no memory */
};

static const char *text_of(struct adding *adding, const char *text)
{
	const char *own = dist__trace_intern(adding->trace, text);

	adding->failed |= text && !own;
	return own;
}

static const char *op_of(const struct dist__event *event)
{
	if (event->kind == DIST__ALL_GATHER && event->in_one)
		return "all_gather_single";
	if (event->kind == DIST__REDUCE_SCATTER && event->in_one)
		return "reduce_scatter_single";
	return dist__op_name((enum dist__op_kind)event->kind);
}

static struct dist__trace_call call_of(struct adding *adding,
				       const struct dist__placed *placed)
{
	const struct dist__event *event = placed->event;
	enum dist__op_kind kind = (enum dist__op_kind)event->kind;
	enum dist_dtype dtype = (enum dist_dtype)event->dtype;
	bool p2p = dist__op_is_p2p(kind);
	struct dist__trace_call call = {
		.rank = placed->track->rank,
		.group = text_of(adding, placed->track->name),
		.group_size = placed->track->world_size,
		.op = text_of(adding, op_of(event)),
		.order = (uint32_t)adding->trace->num_calls,
		.dtype = text_of(adding, dist_dtype_name(dtype)),
		.numel = (int64_t)event->in_numel,
		.bytes = (int64_t)(event->numel * dist_dtype_size(dtype)),
		.root = p2p || event->peer < 0 ? -1 : event->peer_in_group,
		.peer = p2p && !event->any ? event->peer : -1,
		.tag = p2p ? event->tag : -1,
		.algorithm = text_of(adding, event->name),
		.link = text_of(adding, event->link),
		.issued_ns = event->issued_ns - adding->base_ns,
		.started_ns = event->started_ns - adding->base_ns,
		.ended_ns = event->ended_ns - adding->base_ns,
		.file = text_of(adding, event->file),
		.line = event->file ? event->line : 0,
		.thread = placed->thread,
	};

	if (kind == DIST__BARRIER || kind == DIST__MONITORED_BARRIER)
		call.dtype = text_of(adding, dist_dtype_name(DIST_UINT8));
	if (dist__op_reduces(kind))
		call.reduce_op = text_of(
			adding, dist_reduce_op_name(
					(enum dist_reduce_op)event->reduce_op));
	if (event->error)
		call.error = text_of(
			adding,
			dist_error_string((enum dist_error)event->error));
	return call;
}

/* What was called only to make a group is no call of the program. */
static enum dist_error add_rank(void *arg, int rank,
				const struct dist__placed *placed, size_t n,
				const struct dist__threads *threads)
{
	struct adding *adding = arg;
	struct dist__trace *trace = adding->trace;

	(void)threads;
	if (!dist__array_add(&trace->ranks, &trace->num_ranks, &rank,
			     sizeof rank))
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < n && !adding->failed; i++) {
		const struct dist__event *event = placed[i].event;
		struct dist__trace_call call;
		struct dist__trace_span span = {
			.rank = rank,
			.started_ns = event->started_ns - adding->base_ns,
			.ended_ns = event->ended_ns - adding->base_ns};

		if (event->kind == DIST__EVENT_COMPUTE) {
			span.label = text_of(adding, event->name);
			adding->failed |= !dist__array_add(&trace->spans,
							   &trace->num_spans,
							   &span, sizeof span);
		} else if (event->kind == DIST__EVENT_REMOTE) {
			span.label = text_of(adding, *event->name ? event->name
								  : "to_here");
			span.failed = event->error != 0;
			adding->failed |= !dist__array_add(&trace->remote,
							   &trace->num_remote,
							   &span, sizeof span);
		} else if (dist__event_is_op(event) && !event->purpose) {
			call = call_of(adding, &placed[i]);
			adding->failed |= !dist__array_add(&trace->calls,
							   &trace->num_calls,
							   &call, sizeof call);
		}
	}
	return adding->failed ? DIST_ERR_NO_MEMORY : DIST_OK;
}

static enum dist_error add_facts(const struct dist__recording *recording,
				 struct adding *adding)
{
	struct dist__trace *trace = adding->trace;

	trace->facts = calloc(recording->num_facts + 1, sizeof *trace->facts);
	if (!trace->facts)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < recording->num_facts; i++)
		trace->facts[trace->num_facts++] = (struct dist__trace_fact){
			text_of(adding, recording->facts[i].key),
			text_of(adding, recording->facts[i].value)};
	trace->backend = dist__trace_fact(trace, "backend");
	return DIST_OK;
}

enum dist_error dist__trace_of_events(const struct dist__recording *recording,
				      struct dist__trace *trace)
{
	struct adding adding = {trace, dist__recording_start_ns(recording),
				false};
	enum dist_error error;

	memset(trace, 0, sizeof *trace);
	trace->world_size = recording->world_size;
	error = add_facts(recording, &adding);
	if (!error)
		error = dist__recording_visit(recording, add_rank, &adding);
	if (!error)
		error = dist__trace_order(trace);
	if (error)
		dist__trace_release(trace);
	return error;
}
