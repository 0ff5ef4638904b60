#include "cli/tracetable.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/columns.h"
#include "trace/statistics.h"

/* Times of equal calls, or of the compute spans of one label; over all ranks,
 * each rank's own. */
struct kind {
	const struct dist__trace_call *call; /* NULL: computing */
	const char *label;                   /* computing: of the spans */
	size_t num;
	size_t num_failed;
	int64_t first_ns; /* earliest start */
	int64_t last_ns;  /* latest end */
	double total_ns, median_ns, min_ns, max_ns;
};

struct kinds {
	struct kind *all;
	size_t num;
};

/* ---- summing up ------------------------------------------------------- */

static int by_text(const char *a, const char *b)
{
	if (!a || !b)
		return !b - !a;
	return strcmp(a, b);
}

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_kind(const void *a, const void *b)
{
	const struct dist__trace_call *x =
		*(const struct dist__trace_call *const *)a;
	const struct dist__trace_call *y =
		*(const struct dist__trace_call *const *)b;
	int order = strcmp(x->op, y->op);

	if (order == 0)
		order = by_number(x->bytes, y->bytes);
	if (order == 0)
		order = by_number(x->group_size, y->group_size);
	return order ? order : by_text(x->algorithm, y->algorithm);
}

static void count(struct kind *kind, double *times, int64_t started_ns,
		  int64_t ended_ns)
{
	times[kind->num] = (double)(ended_ns - started_ns);
	if (kind->num == 0 || started_ns < kind->first_ns)
		kind->first_ns = started_ns;
	if (kind->num == 0 || ended_ns > kind->last_ns)
		kind->last_ns = ended_ns;
	kind->total_ns += times[kind->num];
	kind->num++;
}

static void finish(struct kind *kind, double *times)
{
	dist__sort_numbers(times, kind->num);
	kind->median_ns = dist__quantile(times, kind->num, 0.5);
	kind->min_ns = times[0];
	kind->max_ns = times[kind->num - 1];
}

static void sum_up_calls(const struct dist__trace_call *const *calls, size_t n,
			 struct kinds *kinds, double *times)
{
	size_t next;

	for (size_t i = 0; i < n; i = next) {
		struct kind kind = {.call = calls[i]};

		for (next = i; next < n; next++) {
			if (by_kind(&calls[i], &calls[next]) != 0)
				break;
			kind.num_failed += calls[next]->error != NULL;
			count(&kind, times, calls[next]->started_ns,
			      calls[next]->ended_ns);
		}
		finish(&kind, times);
		kinds->all[kinds->num++] = kind;
	}
}

/* Labels are few and strings are shared, so a label is known by its address. */
static void sum_up_spans(const struct dist__trace *trace, struct kinds *kinds,
			 double *times)
{
	for (size_t i = 0; i < trace->num_spans; i++) {
		struct kind kind = {.label = trace->spans[i].label};
		bool known = false;

		for (size_t k = 0; k < kinds->num && !known; k++)
			known = kinds->all[k].label == kind.label;
		for (size_t k = i; !known && k < trace->num_spans; k++)
			if (trace->spans[k].label == kind.label)
				count(&kind, times, trace->spans[k].started_ns,
				      trace->spans[k].ended_ns);
		if (known)
			continue;
		finish(&kind, times);
		kinds->all[kinds->num++] = kind;
	}
}

static int sum_up(const struct dist__trace *trace, struct kinds *kinds)
{
	size_t n = trace->num_calls + trace->num_spans;
	const struct dist__trace_call **calls =
		dist__trace_sorted_calls(trace, by_kind);
	double *times = calloc(n + 1, sizeof(*times));

	kinds->num = 0;
	kinds->all = calloc(n + 1, sizeof(*kinds->all));
	if (calls && times && kinds->all) {
		sum_up_calls(calls, trace->num_calls, kinds, times);
		sum_up_spans(trace, kinds, times);
	}
	n = calls && times && kinds->all;
	free(calls);
	free(times);
	return n ? 0 : -1;
}

/* ---- text ------------------------------------------------------------- */

static void print_head(const struct dist__trace *trace, FILE *out)
{
	fprintf(out, "%s: %s, %d ranks, %zu calls, %zu compute spans\n",
		trace->path,
		trace->backend ? trace->backend : "back end not told",
		trace->world_size ? trace->world_size : (int)trace->num_ranks,
		trace->num_calls, trace->num_spans);
	if (trace->world_size && (int)trace->num_ranks != trace->world_size)
		fprintf(out, "  %zu of the ranks are there\n",
			trace->num_ranks);
	for (size_t i = 0; i < trace->num_facts; i++)
		if (*trace->facts[i].value &&
		    strcmp(trace->facts[i].key, "backend") != 0)
			fprintf(out, "  %s: %s\n", trace->facts[i].key,
				trace->facts[i].value);
}

static void add_kind(struct columns *columns, const struct kind *kind)
{
	const struct dist__trace_call *call = kind->call;

	columns_add(columns, "%s", call ? call->op : kind->label);
	if (call) {
		columns_add(columns, "%s",
			    call->algorithm ? call->algorithm : "-");
		columns_add(columns, "%lld", (long long)call->bytes);
		columns_add(columns, "%d", call->group_size);
	} else {
		columns_add(columns, "(computing)");
		columns_add(columns, "-");
		columns_add(columns, "-");
	}
	columns_add(columns, "%zu", kind->num);
	columns_add(columns, "%zu", kind->num_failed);
	columns_add_time(columns, (double)kind->first_ns);
	columns_add_time(columns, (double)kind->last_ns);
	columns_add_time(columns, kind->total_ns);
	columns_add_time(columns, kind->median_ns);
	columns_add_time(columns, kind->min_ns);
	columns_add_time(columns, kind->max_ns);
}

static int print_kinds(const struct kinds *kinds, FILE *out)
{
	static const char *const names[] = {
		"op",      "algorithm", ">bytes",    ">ranks", ">calls",
		">failed", ">first",    ">last end", ">total", ">median",
		">min",    ">max",      NULL};
	struct columns columns;
	int status;

	columns_init(&columns, names);
	for (size_t i = 0; i < kinds->num; i++)
		add_kind(&columns, &kinds->all[i]);
	fputs("\nEach rank's own time, over all ranks.\n\n", out);
	status = columns_print(&columns, out);
	columns_release(&columns);
	return status;
}

/* Straight to out: there may be hundreds of thousands. */
static void print_calls(const struct dist__trace *trace, FILE *out)
{
	char issued[16], started[16], ended[16], what[512];

	fprintf(out, "\n%6s  %-5s %5s  %9s  %9s  %9s  %-18s  %s\n", "rank",
		"group", "call", "issued", "started", "ended", "algorithm",
		"what");
	for (size_t i = 0; i < trace->num_calls; i++) {
		const struct dist__trace_call *call = &trace->calls[i];

		columns_time_text(issued, sizeof(issued),
				  (double)call->issued_ns);
		columns_time_text(started, sizeof(started),
				  (double)call->started_ns);
		columns_time_text(ended, sizeof(ended), (double)call->ended_ns);
		dist__trace_describe(call, what, sizeof(what));
		fprintf(out, "%6d  %-5s %5u  %9s  %9s  %9s  %-18s  %s%s%s%s\n",
			call->rank, call->group, (unsigned)call->order, issued,
			started, ended, call->algorithm ? call->algorithm : "-",
			call->error ? "FAILED (" : "",
			call->error ? call->error : "", call->error ? ") " : "",
			what);
	}
}

int trace_table_print(const struct dist__trace *trace, bool calls, FILE *out)
{
	struct kinds kinds;
	int status = sum_up(trace, &kinds);

	if (status == 0) {
		print_head(trace, out);
		status = print_kinds(&kinds, out);
	}
	if (status == 0 && calls)
		print_calls(trace, out);
	free(kinds.all);
	return status;
}

/* ---- JSON ------------------------------------------------------------- */

static json_t *kind_json(const struct kind *kind)
{
	const struct dist__trace_call *call = kind->call;
	const char *name = call ? call->op : kind->label;

	return json_pack("{ss ss* so* so* sI sI sI sI sf sf sf sf}",
			 call ? "op" : "compute", name, "algorithm",
			 call ? call->algorithm : NULL, "bytes",
			 call ? json_integer(call->bytes) : NULL, "ranks",
			 call ? json_integer(call->group_size) : NULL, "calls",
			 (json_int_t)kind->num, "failed",
			 (json_int_t)kind->num_failed, "first_ns",
			 (json_int_t)kind->first_ns, "last_end_ns",
			 (json_int_t)kind->last_ns, "total_ns", kind->total_ns,
			 "median_ns", kind->median_ns, "min_ns", kind->min_ns,
			 "max_ns", kind->max_ns);
}

static json_t *call_json(const struct dist__trace_call *call)
{
	return json_pack(
		"{si ss sI ss ss* sI sI ss* so* so* so* ss* sI sI sI ss* si "
		"ss*}",
		"rank", call->rank, "group", call->group, "call",
		(json_int_t)call->order, "op", call->op, "dtype", call->dtype,
		"numel", (json_int_t)call->numel, "bytes",
		(json_int_t)call->bytes, "reduce_op", call->reduce_op, "root",
		call->root < 0 ? NULL : json_integer(call->root), "peer",
		call->peer < 0 ? NULL : json_integer(call->peer), "tag",
		call->tag < 0 ? NULL : json_integer(call->tag), "algorithm",
		call->algorithm, "issued_ns", (json_int_t)call->issued_ns,
		"started_ns", (json_int_t)call->started_ns, "ended_ns",
		(json_int_t)call->ended_ns, "file", call->file, "line",
		call->line, "error", call->error);
}

/* Returns 0, or not when memory ran out. */
static int fill(const struct dist__trace *trace, const struct kinds *kinds,
		json_t *facts, json_t *summary, json_t *calls)
{
	int failed = 0;

	for (size_t i = 0; i < trace->num_facts; i++)
		failed |=
			json_object_set_new(facts, trace->facts[i].key,
					    json_string(trace->facts[i].value));
	for (size_t i = 0; i < kinds->num; i++)
		failed |= json_array_append_new(summary,
						kind_json(&kinds->all[i]));
	for (size_t i = 0; calls && i < trace->num_calls; i++)
		failed |= json_array_append_new(calls,
						call_json(&trace->calls[i]));
	return failed;
}

static json_t *trace_json(const struct dist__trace *trace,
			  const struct kinds *kinds, bool calls)
{
	json_t *facts = json_object(), *summary = json_array();
	json_t *list = calls ? json_array() : NULL;
	int failed = fill(trace, kinds, facts, summary, list);
	json_t *object = json_pack(
		"{ss ss* si sI so so so*}", "file", trace->path, "backend",
		trace->backend, "world_size", trace->world_size, "ranks_there",
		(json_int_t)trace->num_ranks, "facts", facts, "summary",
		summary, "calls", list);

	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

int trace_table_json(const struct dist__trace *trace, bool calls, FILE *out)
{
	struct kinds kinds;
	int status = sum_up(trace, &kinds);
	json_t *object = status ? NULL : trace_json(trace, &kinds, calls);

	status = object ? json_dumpf(object, out,
				     JSON_INDENT(2) | JSON_REAL_PRECISION(9))
			: -1;
	if (object)
		fputc('\n', out);
	json_decref(object);
	free(kinds.all);
	return status;
}
