#include "cli/comparison.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli/columns.h"
#include "trace/output.h"

bool comparison_passes(const struct comparison_story *story)
{
	if (!story->comparison->comparable)
		return false;
	return story->max_error < 0 ||
	       story->comparison->worst_error <= story->max_error;
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

/* ---- what made the times ---------------------------------------------- */

/* Prints each pair of op and algorithm that the calls of a trace name. */
static void print_algorithms(const struct dist__comparison *comparison,
			     bool predicted, FILE *out)
{
	const struct dist__trace_call *call, *before = NULL;
	bool any = false;

	for (size_t i = 0; i < comparison->num_rows; i++) {
		const struct dist__compared_row *row = &comparison->rows[i];
		bool told = false;

		call = predicted ? row->predicted : row->measured;
		if (!call->algorithm)
			continue;
		for (size_t k = 0; k < i && !told; k++) {
			before = predicted ? comparison->rows[k].predicted
					   : comparison->rows[k].measured;
			told = before->algorithm &&
			       strcmp(before->op, call->op) == 0 &&
			       strcmp(before->algorithm, call->algorithm) == 0;
		}
		if (told)
			continue;
		fprintf(out, "%s%s %s", any ? ", " : "  algorithms: ", call->op,
			call->algorithm);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

static void print_trace(const struct dist__trace *trace,
			const struct dist__comparison *comparison,
			bool predicted, FILE *out)
{
	fprintf(out, "%s: %s (%s, %d ranks)\n",
		predicted ? "predicted" : "measured", trace->path,
		trace->backend ? trace->backend : "back end not told",
		trace->world_size ? trace->world_size : (int)trace->num_ranks);
	for (size_t i = 0; i < trace->num_facts; i++)
		if (*trace->facts[i].value &&
		    strcmp(trace->facts[i].key, "backend") != 0)
			fprintf(out, "  %s: %s\n", trace->facts[i].key,
				trace->facts[i].value);
	print_algorithms(comparison, predicted, out);
}

/* ---- text ------------------------------------------------------------- */

static void add_ratio(struct columns *columns,
		      const struct dist__compared_time *time)
{
	columns_add_time(columns, time->predicted_ns);
	columns_add_time(columns, time->measured_ns);
	columns_add(columns, "%.3f", time->ratio);
	columns_add(columns, "%+.1f %%", 100 * time->error);
}

/* "ring", or "ring/tree" where the two worlds chose differently. */
static void add_algorithms(struct columns *columns,
			   const struct dist__trace_call *predicted,
			   const struct dist__trace_call *measured)
{
	const char *p = or_dash(predicted->algorithm);
	const char *m = or_dash(measured->algorithm);

	if (strcmp(p, m) == 0)
		columns_add(columns, "%s", p);
	else
		columns_add(columns, "%s/%s", p, m);
}

static int print_rows(const struct comparison_story *story, FILE *out)
{
	static const char *const names[] = {
		"op",         "algorithm", ">bytes", ">ranks", ">calls",
		">predicted", ">measured", ">ratio", ">error", ">min",
		">25 %",      ">75 %",     ">max",   NULL};
	const struct dist__comparison *comparison = story->comparison;
	struct columns columns;
	int status;

	columns_init(&columns, names);
	for (size_t i = 0; i < comparison->num_rows; i++) {
		const struct dist__compared_row *row = &comparison->rows[i];

		columns_add(&columns, "%s", row->predicted->op);
		add_algorithms(&columns, row->predicted, row->measured);
		columns_add(&columns, "%lld", (long long)row->predicted->bytes);
		columns_add(&columns, "%d", row->predicted->group_size);
		columns_add(&columns, "%zu", row->num_calls);
		add_ratio(&columns, &row->time);
		columns_add_time(&columns, row->measured_min_ns);
		columns_add_time(&columns, row->measured_p25_ns);
		columns_add_time(&columns, row->measured_p75_ns);
		columns_add_time(&columns, row->measured_max_ns);
	}
	fputs("\nA collective takes from the last rank's entry to the last "
	      "rank's exit, a message\nwhat its receive takes. Medians; the "
	      "last four columns are the measured spread.\n\n",
	      out);
	status = columns_print(&columns, out);
	columns_release(&columns);
	return status;
}

static void add_site(struct columns *columns,
		     const struct dist__trace_call *call)
{
	const char *name = call->file ? strrchr(call->file, '/') : NULL;

	if (call->file)
		columns_add(columns, "%s:%d", name ? name + 1 : call->file,
			    call->line);
	else
		columns_add(columns, "-");
}

static int print_calls(const struct comparison_story *story, FILE *out)
{
	static const char *const names[] = {
		"group",     ">rank",  ">seq",   "op", ">bytes", ">predicted",
		">measured", ">ratio", ">error", "at", NULL};
	const struct dist__comparison *comparison = story->comparison;
	struct columns columns;
	int status;

	columns_init(&columns, names);
	for (size_t i = 0; i < comparison->num_calls; i++) {
		const struct dist__compared_call *call = &comparison->calls[i];
		const struct dist__trace_call *p = call->predicted;

		columns_add(&columns, "%s", p->group);
		if (dist__trace_is_p2p(p))
			columns_add(&columns, "%d", p->rank);
		else
			columns_add(&columns, "all");
		columns_add(&columns, "%u", (unsigned)p->seq);
		columns_add(&columns, "%s", p->op);
		columns_add(&columns, "%lld", (long long)p->bytes);
		add_ratio(&columns, &call->time);
		add_site(&columns, p);
	}
	fputc('\n', out);
	status = columns_print(&columns, out);
	columns_release(&columns);
	return status;
}

static int print_time(const struct comparison_story *story, FILE *out)
{
	static const char *const names[] = {"a rank's time", ">predicted",
					    ">measured",     ">ratio",
					    ">error",        NULL};
	const struct dist__comparison *comparison = story->comparison;
	struct columns columns;
	int status;

	columns_init(&columns, names);
	for (size_t i = 0; i < comparison->num_labels; i++) {
		columns_add(&columns, "computing: %s",
			    comparison->labels[i].label);
		add_ratio(&columns, &comparison->labels[i].time);
	}
	columns_add(&columns, "first start to last end");
	add_ratio(&columns, &comparison->wall);
	fputs("\nTotals of a rank, medians over the ranks.\n\n", out);
	status = columns_print(&columns, out);
	columns_release(&columns);
	return status;
}

static void print_summary(const struct comparison_story *story, FILE *out)
{
	const struct dist__comparison *comparison = story->comparison;
	size_t over = 0;

	if (comparison->num_failed > 0)
		fprintf(out, "\n%zu calls failed and are left out.\n",
			comparison->num_failed);
	if (comparison->num_rows == 0) {
		fputs("\nNo call has a time to compare.\n", out);
		return;
	}
	fprintf(out, "\nOver %zu row%s: ", comparison->num_rows,
		comparison->num_rows == 1 ? "" : "s");
	if (comparison->num_ratios > 0)
		fprintf(out, "geometric mean of predicted/measured %.3f; ",
			comparison->geometric_mean);
	fprintf(out, "|error| median %.1f %%, p90 %.1f %%, worst %.1f %%.\n",
		100 * comparison->median_error, 100 * comparison->p90_error,
		100 * comparison->worst_error);
	if (story->max_error < 0)
		return;
	for (size_t i = 0; i < comparison->num_rows; i++)
		over += fabs(comparison->rows[i].time.error) > story->max_error;
	fprintf(out, "Allowed: %.4g %%. %s", 100 * story->max_error,
		over ? "" : "Every row is within it.\n");
	if (over)
		fprintf(out, "Exceeded by %zu of %zu rows.\n", over,
			comparison->num_rows);
}

int comparison_print(const struct comparison_story *story, FILE *out)
{
	const struct dist__comparison *comparison = story->comparison;
	int status = 0;

	print_trace(story->predicted, comparison, true, out);
	print_trace(story->measured, comparison, false, out);
	if (!comparison->comparable) {
		fprintf(out, "\nNot comparable: %s.\n", comparison->reason);
		return 0;
	}
	fputs("\nThe ranks made the same calls in the same order.\n", out);
	if (comparison->num_rows > 0)
		status = print_rows(story, out);
	if (status == 0 && story->calls)
		status = print_calls(story, out);
	if (status == 0)
		status = print_time(story, out);
	print_summary(story, out);
	return status;
}

/* ---- JSON ------------------------------------------------------------- */

/* A number, or null for one that JSON has no words for. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *trace_json(const struct dist__trace *trace)
{
	json_t *facts = json_object();

	for (size_t i = 0; i < trace->num_facts; i++)
		if (json_object_set_new(facts, trace->facts[i].key,
					json_string(trace->facts[i].value))) {
			json_decref(facts);
			return NULL;
		}
	return json_pack("{ss ss* si so}", "file", trace->path, "backend",
			 trace->backend, "world_size",
			 trace->world_size ? trace->world_size
					   : (int)trace->num_ranks,
			 "facts", facts);
}

static json_t *row_json(const struct dist__compared_row *row)
{
	return json_pack(
		"{ss ss* ss* sI si sI so so so so so so so so}", "op",
		row->predicted->op, "algorithm", row->predicted->algorithm,
		"measured_algorithm", row->measured->algorithm, "bytes",
		(json_int_t)row->predicted->bytes, "ranks",
		row->predicted->group_size, "calls", (json_int_t)row->num_calls,
		"predicted_ns", number(row->time.predicted_ns), "measured_ns",
		number(row->time.measured_ns), "measured_min_ns",
		number(row->measured_min_ns), "measured_p25_ns",
		number(row->measured_p25_ns), "measured_p75_ns",
		number(row->measured_p75_ns), "measured_max_ns",
		number(row->measured_max_ns), "ratio", number(row->time.ratio),
		"error", number(row->time.error));
}

static json_t *call_json(const struct dist__compared_call *call)
{
	const struct dist__trace_call *p = call->predicted;

	return json_pack(
		"{ss so* sI ss sI sI sI ss* si}", "group", p->group, "rank",
		dist__trace_is_p2p(p) ? json_integer(p->rank) : NULL, "seq",
		(json_int_t)p->seq, "op", p->op, "bytes", (json_int_t)p->bytes,
		"predicted_ns", (json_int_t)call->time.predicted_ns,
		"measured_ns", (json_int_t)call->time.measured_ns, "file",
		p->file, "line", p->line);
}

static json_t *time_json(const char *label,
			 const struct dist__compared_time *time)
{
	return json_pack("{ss* so so so so}", "label", label, "predicted_ns",
			 number(time->predicted_ns), "measured_ns",
			 number(time->measured_ns), "ratio",
			 number(time->ratio), "error", number(time->error));
}

/* Returns 0, or not when memory ran out. */
static int add_rows(json_t *object, const struct dist__comparison *comparison)
{
	json_t *rows = json_array();
	int failed = 0;

	for (size_t i = 0; i < comparison->num_rows; i++)
		failed |= json_array_append_new(rows,
						row_json(&comparison->rows[i]));
	return failed | json_object_set_new(object, "rows", rows);
}

static int add_calls(json_t *object, const struct dist__comparison *comparison)
{
	json_t *calls = json_array();
	int failed = 0;

	for (size_t i = 0; i < comparison->num_calls; i++)
		failed |= json_array_append_new(
			calls, call_json(&comparison->calls[i]));
	return failed | json_object_set_new(object, "calls", calls);
}

static int add_times(json_t *object, const struct dist__comparison *comparison)
{
	json_t *labels = json_array();
	int failed = 0;

	for (size_t i = 0; i < comparison->num_labels; i++)
		failed |= json_array_append_new(
			labels, time_json(comparison->labels[i].label,
					  &comparison->labels[i].time));
	failed |= json_object_set_new(object, "compute", labels);
	return failed | json_object_set_new(object, "wall",
					    time_json(NULL, &comparison->wall));
}

static json_t *summary_json(const struct comparison_story *story)
{
	const struct dist__comparison *comparison = story->comparison;

	return json_pack(
		"{sI sI so so so so so sb}", "rows",
		(json_int_t)comparison->num_rows, "failed_calls",
		(json_int_t)comparison->num_failed, "geometric_mean",
		comparison->num_ratios ? number(comparison->geometric_mean)
				       : json_null(),
		"median_error", number(comparison->median_error), "p90_error",
		number(comparison->p90_error), "worst_error",
		number(comparison->worst_error), "max_error",
		story->max_error < 0 ? json_null() : number(story->max_error),
		"passed", comparison_passes(story));
}

json_t *comparison_json(const struct comparison_story *story)
{
	const struct dist__comparison *comparison = story->comparison;
	json_t *object = json_pack("{so so sb}", "predicted",
				   trace_json(story->predicted), "measured",
				   trace_json(story->measured), "comparable",
				   comparison->comparable);

	int failed = !object;

	if (!comparison->comparable) {
		failed |= json_object_set_new(object, "reason",
					      json_string(comparison->reason));
	} else {
		failed |= add_rows(object, comparison);
		if (story->calls)
			failed |= add_calls(object, comparison);
		failed |= add_times(object, comparison);
		failed |= json_object_set_new(object, "summary",
					      summary_json(story));
	}
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

/* ---- TSV -------------------------------------------------------------- */

enum dist_error comparison_write_tsv(const struct comparison_story *story,
				     const char *path,
				     struct dist_message *message)
{
	const struct dist__comparison *comparison = story->comparison;
	struct dist__output *output;
	enum dist_error error = dist__output_open(path, &output, message);

	if (error)
		return error;
	dist__output_text(output,
			  "op\talgorithm\tmeasured_algorithm\tranks\tbytes\t"
			  "calls\tpredicted_us\tmeasured_us\tmeasured_min_us\t"
			  "measured_p25_us\tmeasured_p75_us\tmeasured_max_us\t"
			  "ratio\n");
	for (size_t i = 0; i < comparison->num_rows; i++) {
		const struct dist__compared_row *row = &comparison->rows[i];

		dist__output_print(
			output, "%.64s\t%.64s\t%.64s\t%d\t%lld\t%zu",
			row->predicted->op, or_dash(row->predicted->algorithm),
			or_dash(row->measured->algorithm),
			row->predicted->group_size,
			(long long)row->predicted->bytes, row->num_calls);
		dist__output_print(
			output, "\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.6g\n",
			row->time.predicted_ns / 1e3,
			row->time.measured_ns / 1e3, row->measured_min_ns / 1e3,
			row->measured_p25_ns / 1e3, row->measured_p75_ns / 1e3,
			row->measured_max_ns / 1e3,
			isfinite(row->time.ratio) ? row->time.ratio : NAN);
	}
	return dist__output_close(output, message);
}
