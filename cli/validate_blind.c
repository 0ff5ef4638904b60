/* validate_blind.c - the blind errors of all tables by like cases, as data
 * that intervals around predictions are made of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/statistics.h"
#include "cli/validate.h"
#include "model/validation/interval.h"

/* One row that was predicted blind. */
struct sample {
	const char *table, *machine;
	struct interval_case of;
	double ratio; /* measured over predicted */
	bool is_used;
};

struct samples {
	struct sample *all; /* owned */
	size_t num;
};

static void add(struct samples *samples, const struct sample *sample)
{
	samples->all[samples->num++] = *sample;
}

static const char *or_none(const char *text)
{
	return text ? text : "";
}

static void add_collectives(struct samples *samples,
			    const struct validate_table *table, bool own_rows)
{
	const struct outcome *outcome =
		&table->blind[own_rows ? VALIDATE_OWN_ROWS
				       : VALIDATE_NO_MACHINE];

	for (size_t i = 0; i < outcome->num; i++) {
		const struct outcome_row *row = &outcome->rows[i];

		if (own_rows && !row->is_calibrated)
			continue;
		add(samples,
		    &(struct sample){
			    .table = table->name,
			    .machine = row->row->machine,
			    .of = {.what = collective_name(
					   row->row->collective),
				   .library = collective_profile(
					   row->row->library),
				   .is_one_node = row->row->nodes == 1,
				   .transport =
					   row->row->nodes == 1
						   ? ""
						   : or_none(row->row->transport),
				   .range = accuracy_range_of(row->row->bytes),
				   .is_calibrated = own_rows},
			    .ratio = row->row->time_us.value /
				     row->predicted_us});
	}
}

static void add_steps(struct samples *samples,
		      const struct validate_table *table)
{
	for (size_t i = 0; i < table->blind_steps.num; i++) {
		const struct step_outcome_row *row =
			&table->blind_steps.rows[i];

		add(samples,
		    &(struct sample){
			    .table = table->name,
			    .machine = row->row->machine,
			    .of = {.what = stream_schedule_name(row->schedule),
				   .library = "",
				   .is_one_node = row->row->nodes == 1,
				   .transport =
					   row->row->nodes == 1
						   ? ""
						   : or_none(row->row->transport),
				   .range = ACCURACY_ALL},
			    .ratio = row->measured_ms / row->predicted_ms});
	}
}

static bool is_like(const struct sample *a, const struct sample *b)
{
	return a->of.range == b->of.range &&
	       a->of.is_calibrated == b->of.is_calibrated &&
	       a->of.is_one_node == b->of.is_one_node &&
	       strcmp(a->table, b->table) == 0 &&
	       strcmp(a->machine, b->machine) == 0 &&
	       strcmp(a->of.what, b->of.what) == 0 &&
	       strcmp(a->of.transport, b->of.transport) == 0;
}

/* The line of all samples that are like the one at index first. */
static void add_line(struct dist__rows *lines, struct samples *samples,
		     size_t first, double *scratch)
{
	const struct sample *like = &samples->all[first];
	struct dist__cell cells[INTERVAL_KEYS + INTERVAL_QUANTILES] = {
		cell_text(like->table),
		cell_text(like->machine),
		cell_text(like->of.what),
		cell_text(*like->of.library ? like->of.library : NULL),
		cell_text(like->of.is_one_node ? "one" : "several"),
		cell_text(*like->of.transport ? like->of.transport : NULL),
		cell_text(interval_range_name(like->of.range)),
		cell_text(like->of.is_calibrated ? "own" : "shared"),
	};
	size_t num = 0;

	for (size_t i = first; i < samples->num; i++) {
		struct sample *sample = &samples->all[i];

		if (sample->is_used || !is_like(sample, like))
			continue;
		sample->is_used = true;
		scratch[num++] = sample->ratio;
	}
	dist__sort_numbers(scratch, num);
	cells[INTERVAL_KEYS - 1] = cell_size(num);
	for (int q = 0; q < INTERVAL_QUANTILES; q++)
		cells[INTERVAL_KEYS + q] = cell_real(
			round(1e4 *
			      dist__quantile(scratch, num,
					     (q + 0.5) / INTERVAL_QUANTILES)) /
			1e4);
	dist__rows_add(lines, cells, INTERVAL_KEYS + INTERVAL_QUANTILES);
}

static size_t most_samples(const struct validate *validate)
{
	size_t most = 1;

	for (size_t i = 0; i < validate->num; i++)
		most += validate->tables[i].blind[VALIDATE_NO_MACHINE].num +
			validate->tables[i].blind[VALIDATE_OWN_ROWS].num +
			validate->tables[i].blind_steps.num;
	return most;
}

enum dist_error validate_write_errors(const struct validate *validate,
				      const char *path,
				      struct dist_message *message)
{
	struct dist__rows lines = {.columns = INTERVAL_COLUMNS};
	size_t most = most_samples(validate);
	double *scratch = calloc(most, sizeof *scratch);
	struct samples samples = {calloc(most, sizeof *samples.all), 0};
	char head[256];
	time_t now = time(NULL);
	struct tm day;

	lines.failed = !scratch || !samples.all;
	for (size_t i = 0; !lines.failed && i < validate->num; i++) {
		add_collectives(&samples, &validate->tables[i], false);
		add_collectives(&samples, &validate->tables[i], true);
		add_steps(&samples, &validate->tables[i]);
	}
	for (size_t i = 0; i < samples.num; i++)
		if (!samples.all[i].is_used)
			add_line(&lines, &samples, i, scratch);
	free(samples.all);
	free(scratch);
	strftime(head, sizeof head,
		 "# title: What blind predictions were off by: measured over "
		 "predicted times\n"
		 "# source: lockstep validate --blind --write-errors\n"
		 "# date: %Y-%m-%d\n",
		 gmtime_r(&now, &day));
	return dist__rows_write(&lines, head, path, message);
}
