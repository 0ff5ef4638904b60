#include "cli/tracetable.h"

#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "base/text.h"

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

static int by_kind(const void *a, const void *b)
{
	const struct dist__trace_call *x =
		*(const struct dist__trace_call *const *)a;
	const struct dist__trace_call *y =
		*(const struct dist__trace_call *const *)b;
	int order = strcmp(x->op, y->op);

	if (order == 0)
		order = dist__by_number(x->bytes, y->bytes);
	if (order == 0)
		order = dist__by_number(x->group_size, y->group_size);
	return order ? order : dist__by_text(x->algorithm, y->algorithm);
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

static int sum_up(const struct dist__trace *trace, struct kinds *kinds)
{
	size_t n = trace->num_calls + trace->num_spans;
	const struct dist__trace_call **calls =
		dist__trace_sorted_calls(trace, by_kind);
	double *times = calloc(n + 1, sizeof *times);

	kinds->num = 0;
	kinds->all = calloc(n + 1, sizeof *kinds->all);
	if (calls && times && kinds->all) {
		size_t next;

		for (size_t i = 0; i < trace->num_calls; i = next) {
			struct kind kind = {.call = calls[i]};

			for (next = i; next < trace->num_calls; next++) {
				if (by_kind(&calls[i], &calls[next]) != 0)
					break;
				kind.num_failed += calls[next]->error != NULL;
				count(&kind, times, calls[next]->started_ns,
				      calls[next]->ended_ns);
			}
			finish(&kind, times);
			kinds->all[kinds->num++] = kind;
		}

		/* Labels are few and strings are shared, so a label is known by
		 * its address. */
		for (size_t i = 0; i < trace->num_spans; i++) {
			struct kind kind = {.label = trace->spans[i].label};
			bool known = false;

			for (size_t k = 0; k < kinds->num && !known; k++)
				known = kinds->all[k].label == kind.label;
			for (size_t k = i; !known && k < trace->num_spans; k++)
				if (trace->spans[k].label == kind.label)
					count(&kind, times,
					      trace->spans[k].started_ns,
					      trace->spans[k].ended_ns);
			if (known)
				continue;
			finish(&kind, times);
			kinds->all[kinds->num++] = kind;
		}
	}
	n = calls && times && kinds->all;
	free(calls);
	free(times);
	return n ? 0 : -1;
}

/* ---- what a trace says of itself ---------------------------------------- */

void trace_facts_print(const struct dist__trace *trace, FILE *out)
{
	for (size_t i = 0; i < trace->num_facts; i++)
		if (*trace->facts[i].value &&
		    strcmp(trace->facts[i].key, "backend") != 0)
			fprintf(out, "  %s: %s\n", trace->facts[i].key,
				trace->facts[i].value);
}

json_t *trace_facts_json(const struct dist__trace *trace)
{
	json_t *facts = json_object();
	int failed = 0;

	for (size_t i = 0; i < trace->num_facts; i++)
		failed |=
			json_object_set_new(facts, trace->facts[i].key,
					    json_string(trace->facts[i].value));
	if (!failed)
		return facts;
	json_decref(facts);
	return NULL;
}

/* ---- tables ------------------------------------------------------------- */

/* For people the kind of a compute span stands where an algorithm does. */
static const char kind_columns[] =
	"|op;|algorithm;op|;compute|;algorithm|;bytes;ranks;calls;failed;"
	"first_ns|first;last_end_ns|last end;total_ns|total;median_ns|median;"
	"min_ns|min;max_ns|max";

static void add_kind(struct dist__rows *table, const struct kind *kind)
{
	static const struct dist__trace_call none = {.bytes = CELL_UNKNOWN};
	const struct dist__trace_call *call = kind->call ? kind->call : &none;

	ADD_ROW(table, cell_text(kind->call ? call->op : kind->label),
		cell_text(kind->call ? call->algorithm : "(computing)"),
		cell_text(call->op), cell_text(kind->label),
		cell_text(call->algorithm), cell_int(call->bytes),
		cell_int(kind->call ? call->group_size : CELL_UNKNOWN),
		cell_size(kind->num), cell_size(kind->num_failed),
		cell_time((double)kind->first_ns),
		cell_time((double)kind->last_ns), cell_time(kind->total_ns),
		cell_time(kind->median_ns), cell_time(kind->min_ns),
		cell_time(kind->max_ns));
}

static const char call_columns[] =
	"rank;group;call;op|;dtype|;numel|;bytes|;reduce_op|;root|;peer|;tag|;"
	"issued_ns|issued;started_ns|started;ended_ns|ended;algorithm;file|;"
	"line|;error|;|what";

/* A number that is below 0 where a call has none. */
static struct dist__cell number(int64_t number)
{
	return cell_int(number < 0 ? CELL_UNKNOWN : number);
}

static void add_call(struct dist__rows *table,
		     const struct dist__trace_call *call)
{
	char what[512] = "";
	size_t used = 0;

	if (call->error)
		used = (size_t)snprintf(what, sizeof what, "FAILED (%.200s) ",
					call->error);
	dist__trace_describe(call, what + used, sizeof what - used);
	ADD_ROW(table, cell_int(call->rank), cell_text(call->group),
		cell_size(call->order), cell_text(call->op),
		cell_text(call->dtype), cell_int(call->numel),
		cell_int(call->bytes), cell_text(call->reduce_op),
		number(call->root), number(call->peer), number(call->tag),
		cell_time((double)call->issued_ns),
		cell_time((double)call->started_ns),
		cell_time((double)call->ended_ns), cell_text(call->algorithm),
		cell_text(call->file), cell_int(call->line),
		cell_text(call->error), cell_copy(what));
}

struct dist__rows trace_calls(const struct dist__trace *trace)
{
	struct dist__rows calls = {.columns = call_columns};

	for (size_t i = 0; i < trace->num_calls; i++)
		add_call(&calls, &trace->calls[i]);
	return calls;
}

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
	trace_facts_print(trace, out);
}

int trace_table_print(const struct dist__trace *trace, bool with_calls,
		      enum dist__form form, FILE *out)
{
	struct dist__section sections[] = {
		{"summary",
		 "Each rank's own time, over all ranks.",
		 {.columns = kind_columns}},
		{"calls", "", {.columns = call_columns}},
	};
	json_t *head = NULL;
	struct kinds kinds;
	int status = sum_up(trace, &kinds);

	for (size_t i = 0; !status && i < kinds.num; i++)
		add_kind(&sections[0].table, &kinds.all[i]);
	if (with_calls)
		sections[1].table = trace_calls(trace);
	if (form == FORM_JSON)
		head = json_pack("{ss ss* si sI so}", "file", trace->path,
				 "backend", trace->backend, "world_size",
				 trace->world_size, "ranks_there",
				 (json_int_t)trace->num_ranks, "facts",
				 trace_facts_json(trace));
	else if (!status)
		print_head(trace, out);
	status |= dist__sections_print(sections, with_calls ? 2 : 1, head, form,
				       out);
	free(kinds.all);
	return status;
}
