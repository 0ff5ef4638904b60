#include "cli/comparison.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli/tracetable.h"
#include "base/text.h"

bool comparison_passes(const struct comparison_story *document)
{
	if (!document->comparison->comparable)
		return false;
	return document->max_error < 0 ||
	       document->comparison->worst_error <= document->max_error;
}

/* ---- tables ------------------------------------------------------------ */

#define CELLS_OF_TIMES(time)                                                   \
	cell_time((time)->predicted_ns), cell_time((time)->measured_ns)
#define CELLS_OF_ERROR(time)                                                   \
	cell_fixed(3, (time)->ratio), cell_error((time)->error)

static struct dist__rows rows_of(const struct dist__comparison *comparison)
{
	static const char columns[] =
		"op;|algorithm;algorithm|;measured_algorithm|;ranks;bytes;"
		"calls;predicted_ns|predicted;measured_ns|measured;"
		"measured_min_ns|min;measured_p25_ns|25 %;"
		"measured_p75_ns|75 %;measured_max_ns|max;ratio;error";
	struct dist__rows table = {.columns = columns};

	for (size_t i = 0; i < comparison->num_rows; i++) {
		const struct dist__compared_row *row = &comparison->rows[i];
		const char *p = row->predicted->algorithm;
		const char *m = row->measured->algorithm;
		char both[160];

		/* "ring/tree" where the two worlds chose differently. */
		snprintf(both, sizeof both, "%.64s/%.64s", p ? p : "-",
			 m ? m : "-");
		if (p == m || (p && m && strcmp(p, m) == 0))
			snprintf(both, sizeof both, "%.64s", p ? p : "-");
		ADD_ROW(&table, cell_text(row->predicted->op), cell_copy(both),
			cell_text(p), cell_text(m),
			cell_int(row->predicted->group_size),
			cell_int(row->predicted->bytes),
			cell_size(row->num_calls), CELLS_OF_TIMES(&row->time),
			cell_time(row->measured_min_ns),
			cell_time(row->measured_p25_ns),
			cell_time(row->measured_p75_ns),
			cell_time(row->measured_max_ns),
			CELLS_OF_ERROR(&row->time));
	}
	return table;
}

static struct dist__rows calls_of(const struct dist__comparison *comparison)
{
	static const char columns[] =
		"group;rank;seq;op;bytes;predicted_ns|predicted;"
		"measured_ns|measured;ratio;error;|at;file|;line|";
	struct dist__rows table = {.columns = columns};

	for (size_t i = 0; i < comparison->num_calls; i++) {
		const struct dist__compared_call *call = &comparison->calls[i];
		const struct dist__trace_call *p = call->predicted;
		char at[256];

		snprintf(at, sizeof at, "%.200s:%d",
			 p->file ? dist__base_name(p->file) : "-", p->line);
		ADD_ROW(&table, cell_text(p->group),
			cell_int(dist__trace_is_p2p(p) ? p->rank
						       : CELL_UNKNOWN),
			cell_size(p->seq), cell_text(p->op), cell_int(p->bytes),
			CELLS_OF_TIMES(&call->time),
			CELLS_OF_ERROR(&call->time),
			cell_copy(p->file ? at : NULL), cell_text(p->file),
			cell_int(p->line));
	}
	return table;
}

static struct dist__rows remote_of(const struct dist__comparison *comparison)
{
	static const char columns[] =
		"function;predicted_calls|calls predicted;"
		"measured_calls|calls measured;"
		"predicted_ns|predicted;measured_ns|measured;ratio;error";
	struct dist__rows table = {.columns = columns};

	for (size_t i = 0; i < comparison->num_remote; i++) {
		const struct dist__compared_remote *of = &comparison->remote[i];

		ADD_ROW(&table, cell_text(of->function),
			cell_size(of->num_predicted),
			cell_size(of->num_measured), CELLS_OF_TIMES(&of->time),
			CELLS_OF_ERROR(&of->time));
	}
	return table;
}

/* The last row is the time from first start to last end. */
static struct dist__rows times_of(const struct dist__comparison *comparison)
{
	static const char columns[] =
		"|a rank's time;label|;predicted_ns|predicted;"
		"measured_ns|measured;ratio;error";
	const struct dist__compared_time *wall = &comparison->wall;
	struct dist__rows table = {.columns = columns};
	char text[256];

	for (size_t i = 0; i < comparison->num_labels; i++) {
		const struct dist__compared_label *of = &comparison->labels[i];

		snprintf(text, sizeof text, "computing: %.200s", of->label);
		ADD_ROW(&table, cell_copy(text), cell_text(of->label),
			CELLS_OF_TIMES(&of->time), CELLS_OF_ERROR(&of->time));
	}
	ADD_ROW(&table, cell_text("first start to last end"), cell_text(NULL),
		CELLS_OF_TIMES(wall), CELLS_OF_ERROR(wall));
	return table;
}

/* ---- for people -------------------------------------------------------- */

static void print_trace(const struct dist__trace *trace, const char *side,
			FILE *out)
{
	fprintf(out, "%s: %s (%s, %d ranks)\n", side, trace->path,
		trace->backend ? trace->backend : "back end not told",
		trace->world_size ? trace->world_size : (int)trace->num_ranks);
	trace_facts_print(trace, out);
}

static void print_summary(const struct comparison_story *document, FILE *out)
{
	const struct dist__comparison *comparison = document->comparison;
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
	if (document->max_error < 0)
		return;
	for (size_t i = 0; i < comparison->num_rows; i++)
		over += fabs(comparison->rows[i].time.error) >
			document->max_error;
	fprintf(out, "Allowed: %.4g %%. %s", 100 * document->max_error,
		over ? "" : "Every row is within it.\n");
	if (over)
		fprintf(out, "Exceeded by %zu of %zu rows.\n", over,
			comparison->num_rows);
}

static int print_tables(const struct comparison_story *document,
			enum dist__form form, FILE *out)
{
	struct dist__rows rows = rows_of(document->comparison);
	struct dist__rows times = times_of(document->comparison);
	int failed;

	fputs("\nThe ranks made the same calls in the same order.\n", out);
	failed = dist__rows_section(
		&rows,
		"A collective takes from the last rank's entry to the last "
		"rank's exit, a message\nwhat its receive takes. Medians, and "
		"the measured spread.",
		form, out);
	if (document->comparison->num_remote > 0) {
		struct dist__rows remote = remote_of(document->comparison);

		failed |= dist__rows_section(
			&remote,
			"Remote calls, in any order, from the call to the "
			"reply: how many, and medians.\nNo part of the rows "
			"that --max-error and the summary are about.",
			form, out);
	}
	if (document->calls) {
		struct dist__rows calls = calls_of(document->comparison);

		failed |= dist__rows_section(&calls, "", form, out);
	}
	failed |= dist__rows_section(
		&times, "Totals of a rank, medians over the ranks.", form, out);
	print_summary(document, out);
	return failed;
}

/* ---- JSON -------------------------------------------------------------- */

/* A number, or null for one that JSON has no words for. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *trace_json(const struct dist__trace *trace)
{
	return json_pack("{ss ss* si so}", "file", trace->path, "backend",
			 trace->backend, "world_size",
			 trace->world_size ? trace->world_size
					   : (int)trace->num_ranks,
			 "facts", trace_facts_json(trace));
}

static json_t *summary_json(const struct comparison_story *document)
{
	const struct dist__comparison *comparison = document->comparison;

	return json_pack(
		"{sI sI so so so so so sb}", "rows",
		(json_int_t)comparison->num_rows, "failed_calls",
		(json_int_t)comparison->num_failed, "geometric_mean",
		comparison->num_ratios ? number(comparison->geometric_mean)
				       : json_null(),
		"median_error", number(comparison->median_error), "p90_error",
		number(comparison->p90_error), "worst_error",
		number(comparison->worst_error), "max_error",
		document->max_error < 0 ? json_null()
					: number(document->max_error),
		"passed", comparison_passes(document));
}

static json_t *comparison_json(const struct comparison_story *document)
{
	const struct dist__comparison *comparison = document->comparison;
	json_t *predicted = trace_json(document->predicted);
	json_t *measured = trace_json(document->measured), *times, *wall;
	struct dist__rows rows, calls, labels, remote;

	if (!comparison->comparable)
		return json_pack("{so so sb ss}", "predicted", predicted,
				 "measured", measured, "comparable", 0,
				 "reason", comparison->reason);
	rows = rows_of(comparison);
	calls = calls_of(comparison);
	labels = times_of(comparison);
	remote = remote_of(comparison);
	times = dist__rows_json(&labels);
	wall = json_incref(json_array_get(times, comparison->num_labels));
	(void)json_array_remove(times, comparison->num_labels);
	if (!document->calls)
		dist__rows_release(&calls);
	return json_pack("{so so sb so so* so so so so}", "predicted",
			 predicted, "measured", measured, "comparable", 1,
			 "rows", dist__rows_json(&rows), "calls",
			 document->calls ? dist__rows_json(&calls) : NULL,
			 "remote", dist__rows_json(&remote), "compute", times,
			 "wall", wall, "summary", summary_json(document));
}

int comparison_print(const struct comparison_story *document,
		     enum dist__form form, FILE *out)
{
	const struct dist__comparison *comparison = document->comparison;

	if (form == FORM_JSON)
		return dist__json_print(comparison_json(document), out);
	print_trace(document->predicted, "predicted", out);
	print_trace(document->measured, "measured", out);
	if (comparison->comparable)
		return print_tables(document, form, out);
	fprintf(out, "\nNot comparable: %s.\n", comparison->reason);
	return 0;
}

enum dist_error comparison_write_tsv(const struct comparison_story *document,
				     const char *path,
				     struct dist_message *message)
{
	struct dist__rows table = rows_of(document->comparison);

	return dist__rows_write(&table, NULL, path, message);
}
