#include "trace/trace.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/statistics.h"
#include "base/text.h"

void dist__trace_release(struct dist__trace *trace)
{
	for (size_t i = 0; i < trace->num_groups; i++)
		free(trace->groups[i].ranks);
	free(trace->groups);
	free(trace->facts);
	free(trace->ranks);
	free(trace->calls);
	free(trace->spans);
	free(trace->remote);
	json_decref(trace->strings);
	memset(trace, 0, sizeof *trace);
}

/* The strings are the keys of a JSON object, which do not move. */
const char *dist__trace_intern(struct dist__trace *trace, const char *text)
{
	void *key;

	if (!text)
		return NULL;
	if (!trace->strings)
		trace->strings = json_object();
	key = json_object_iter_at(trace->strings, text);
	if (!key &&
	    json_object_set_new_nocheck(trace->strings, text, json_null()) == 0)
		key = json_object_iter_at(trace->strings, text);
	return key ? json_object_iter_key(key) : NULL;
}

const char *dist__trace_fact(const struct dist__trace *trace, const char *key)
{
	for (size_t i = 0; i < trace->num_facts; i++)
		if (strcmp(trace->facts[i].key, key) == 0)
			return trace->facts[i].value;
	return NULL;
}

bool dist__trace_is_p2p(const struct dist__trace_call *call)
{
	return strcmp(call->op, "send") == 0 || strcmp(call->op, "recv") == 0;
}

const struct dist__trace_call **
dist__trace_sorted_calls(const struct dist__trace *trace,
			 int (*compare)(const void *, const void *))
{
	const struct dist__trace_call **calls = calloc(
		trace->num_calls + 1, sizeof(const struct dist__trace_call *));

	if (!calls)
		return NULL;
	for (size_t i = 0; i < trace->num_calls; i++)
		calls[i] = &trace->calls[i];
	qsort(calls, trace->num_calls, sizeof(const struct dist__trace_call *),
	      compare);
	return calls;
}

int dist__trace_by_collective(const void *a, const void *b)
{
	const struct dist__trace_call *x =
		*(const struct dist__trace_call *const *)a;
	const struct dist__trace_call *y =
		*(const struct dist__trace_call *const *)b;
	int p2p = dist__trace_is_p2p(x);
	int order = strcmp(x->group, y->group);

	if (order == 0)
		order = p2p - (int)dist__trace_is_p2p(y);
	if (order == 0 && !p2p)
		order = (x->seq > y->seq) - (x->seq < y->seq);
	if (order == 0)
		order = (x->rank > y->rank) - (x->rank < y->rank);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

bool dist__trace_same_collective(const struct dist__trace_call *a,
				 const struct dist__trace_call *b)
{
	return !dist__trace_is_p2p(a) && !dist__trace_is_p2p(b) &&
	       a->seq == b->seq && strcmp(a->group, b->group) == 0;
}

bool dist__trace_same_call(const struct dist__trace_call *a,
			   const struct dist__trace_call *b)
{
	return dist__trace_same_collective(a, b) && a->bytes == b->bytes &&
	       strcmp(a->op, b->op) == 0;
}

void dist__trace_describe(const struct dist__trace_call *call, char *text,
			  size_t size)
{
	const char *separator = "";

	text[0] = '\0';
	(void)dist__append(text, size, "%s(", call->op);
	if (call->numel > 0 && call->dtype) {
		(void)dist__append(text, size, "%s x %lld", call->dtype,
				   (long long)call->numel);
		separator = ", ";
	}
	if (call->reduce_op)
		(void)dist__append(text, size, "%s%s", separator,
				   call->reduce_op);
	if (call->root >= 0)
		(void)dist__append(text, size, "%sroot %d", separator,
				   call->root);
	if (call->peer >= 0)
		(void)dist__append(text, size, "%s%s %d", separator,
				   strcmp(call->op, "send") == 0 ? "to"
								 : "from",
				   call->peer);
	if (call->tag >= 0)
		(void)dist__append(text, size, ", tag %d", call->tag);
	(void)dist__append(text, size, ")");
	if (call->file)
		(void)dist__append(text, size, " at %s:%d", call->file,
				   call->line);
}

/* ---- order ------------------------------------------------------------ */

static int by_rank_and_issue(const void *a, const void *b)
{
	const struct dist__trace_call *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->issued_ns != y->issued_ns)
		return x->issued_ns < y->issued_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_rank_and_start(const void *a, const void *b)
{
	const struct dist__trace_span *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return (x->ended_ns > y->ended_ns) - (x->ended_ns < y->ended_ns);
}

/* How far the rank at hand got in one group. */
struct progress {
	const char *group; /* interned: compared as a pointer */
	uint32_t calls, collectives, messages;
};

static struct progress *progress_of(struct progress **all, size_t *n,
				    const char *group)
{
	const struct progress fresh = {.group = group};

	for (size_t i = 0; i < *n; i++)
		if ((*all)[i].group == group)
			return &(*all)[i];
	return dist__array_add(all, n, &fresh, sizeof fresh);
}

/* Counts each rank's calls on each group: what a file says of sequence numbers
 * depends on who wrote it. */
static bool count_calls(struct dist__trace *trace)
{
	struct progress *all = NULL, *progress;
	size_t n = 0;

	for (size_t i = 0; i < trace->num_calls; i++) {
		struct dist__trace_call *call = &trace->calls[i];

		if (i > 0 && call->rank != call[-1].rank)
			n = 0;
		progress = progress_of(&all, &n, call->group);
		if (!progress) {
			free(all);
			return false;
		}
		call->order = progress->calls++;
		call->seq = dist__trace_is_p2p(call) ? progress->messages++
						     : progress->collectives++;
	}
	free(all);
	return true;
}

enum dist_error dist__trace_order(struct dist__trace *trace)
{
	size_t kept = 0;

	if (trace->num_calls > 0)
		qsort(trace->calls, trace->num_calls, sizeof *trace->calls,
		      by_rank_and_issue);
	if (trace->num_spans > 0)
		qsort(trace->spans, trace->num_spans, sizeof *trace->spans,
		      by_rank_and_start);
	if (trace->num_remote > 0)
		qsort(trace->remote, trace->num_remote, sizeof *trace->remote,
		      by_rank_and_start);
	dist__sort_whole(trace->ranks, trace->num_ranks);
	for (size_t i = 0; i < trace->num_ranks; i++)
		if (kept == 0 || trace->ranks[kept - 1] != trace->ranks[i])
			trace->ranks[kept++] = trace->ranks[i];
	trace->num_ranks = kept;
	return count_calls(trace) ? DIST_OK : DIST_ERR_NO_MEMORY;
}
