#include "cli/calibrate_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log_arguments.h"
#include "base/data.h"
#include "model/library/calibrate.h"
#include "model/measured/machine.h"
#include "model/cluster/machine.h"
#include "base/statistics.h"
#include "model/validation/call.h"

#define PATH_SIZE 4096

/* All that a fit is made of. */
struct fit {
	const struct calibrate_log *request;
	struct machine machine;
	struct dist__profile profile;
	struct collectives table;
	struct library_calibration result;
	double *errors; /* of the rows, in rising order */
	size_t num_errors;
	struct dist_message message;
};

/* ---- what is given ---------------------------------------------------- */

static enum dist_error load_profile(struct fit *fit)
{
	char path[PATH_SIZE];
	enum dist_error error =
		dist__data_find("profiles", fit->request->profile, ".yaml",
				path, sizeof path, &fit->message);

	if (!error)
		error = dist__profile_load(&fit->profile, path, &fit->message);
	if (!error)
		error = library_check(&fit->profile, &fit->message);
	if (error || fit->profile.num_rules == 0)
		return error;
	snprintf(fit->message.text, sizeof fit->message.text,
		 "--profile: expected one without a selection, not %s",
		 fit->profile.name);
	return DIST_ERR_INVALID_ARGUMENT;
}

static enum dist_error load(struct fit *fit)
{
	struct log_facts facts = fit->request->facts;
	enum dist_error error = log_machine_load(&fit->request->facts,
						 &fit->machine, &fit->message);

	if (!error)
		error = load_profile(fit);
	facts.library = fit->profile.library;
	if (!error)
		error = collectives_load_log(&fit->table, fit->request->log,
					     &facts, &fit->message);
	if (!error)
		collectives_give_away(&fit->table);
	return error;
}

/* ---- the fit ---------------------------------------------------------- */

static enum dist_error sample_of(struct fit *fit,
				 const struct collective_row *row,
				 struct library_sample *sample)
{
	*sample = (struct library_sample){.call = call_of_row(row),
					  .time_ns = row->time_us.value * 1e3};
	return machine_fabric(&fit->machine, row->transport, row->nodes,
			      row->ranks / row->nodes, &sample->fabric,
			      &fit->message);
}

static enum dist_error move_constants(struct fit *fit)
{
	struct library_sample small, large, *found[2] = {NULL, NULL};
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < fit->table.tsv.num_rows && !error; i++) {
		const struct collective_row *row = &fit->table.rows[i];
		bool is_small = row->bytes <= LIBRARY_SMALL_BYTES;

		if (row->use != VALUE_CALIBRATION)
			continue;
		error = sample_of(fit, row, is_small ? &small : &large);
		found[is_small ? 0 : 1] = is_small ? &small : &large;
	}
	if (error)
		return error;
	return library_calibrate(&fit->profile, found[0], found[1],
				 &fit->result, &fit->message);
}

/* How far off the profile is now, over all rows. */
static enum dist_error measure_errors(struct fit *fit)
{
	size_t rows = fit->table.tsv.num_rows;
	enum dist_error error = DIST_OK;

	fit->errors = calloc(rows, sizeof *fit->errors);
	if (!fit->errors) {
		snprintf(fit->message.text, sizeof fit->message.text,
			 "out of memory");
		return DIST_ERR_NO_MEMORY;
	}
	for (size_t i = 0; i < rows && !error; i++) {
		struct library_estimate estimate;
		struct library_sample sample;

		if (fit->table.rows[i].use == VALUE_NEITHER)
			continue;
		error = sample_of(fit, &fit->table.rows[i], &sample);
		if (!error)
			error = library_estimate(&fit->profile, &sample.fabric,
						 &sample.call, &estimate,
						 &fit->message);
		if (!error)
			fit->errors[fit->num_errors++] = fabs(
				library_time_ns(&estimate) / sample.time_ns -
				1);
	}
	dist__sort_numbers(fit->errors, fit->num_errors);
	return error;
}

/* ---- what became of it ------------------------------------------------ */

/* Returns 0, -1: no memory. */
static int print(const struct fit *fit, const char *path)
{
	const struct library_calibration *result = &fit->result;
	double median = dist__quantile(fit->errors, fit->num_errors, 0.5);
	double p90 = dist__quantile(fit->errors, fit->num_errors, 0.9);
	struct dist__rows moves = {.columns = "constant;from;to"};
	enum dist__form form = fit->request->form;
	int failed = 0;

	for (size_t i = 0; i < result->num_moves; i++)
		ADD_ROW(&moves, cell_text(result->moves[i].constant),
			cell_real(result->moves[i].from),
			cell_real(result->moves[i].to));
	if (form == FORM_JSON)
		return dist__json_print(
			json_pack("{so sf sI sf sf ss}", "moves",
				  dist__rows_json(&moves), "residual",
				  result->residual, "rows",
				  (json_int_t)fit->num_errors, "median", median,
				  "p90", p90, "profile", path),
			stdout);
	if (result->num_moves == 0)
		printf("no constant had to move\n");
	else
		failed = dist__rows_print(&moves, form, stdout);
	dist__rows_release(&moves);
	printf("%sresidual: %.1f %% at most of the rows that were fitted; of "
	       "all %zu rows median %.1f %%, p90 %.1f %%\nwrote %s\n",
	       form == FORM_MARKDOWN ? "\n" : "", result->residual * 100,
	       fit->num_errors, median * 100, p90 * 100, path);
	return failed;
}

static enum dist_error write(struct fit *fit, char *path, size_t size)
{
	const struct calibrate_log *request = fit->request;
	const char *slash = strrchr(request->facts.machine, '/');
	const char *name = slash ? slash + 1 : request->facts.machine;
	const struct collective_row *row = &fit->table.rows[0];
	const char *log = strrchr(request->log, '/');

	snprintf(fit->profile.name, sizeof fit->profile.name, "%.*s",
		 (int)strcspn(name, "."), name);
	snprintf(fit->profile.source, sizeof fit->profile.source,
		 "lockstep calibrate --from %.60s: %s on %.60s, %d ranks on %d "
		 "nodes",
		 log ? log + 1 : request->log, collective_name(row->collective),
		 fit->profile.name, row->ranks, row->nodes);
	snprintf(path, size, "%s/%s.yaml", request->dir, fit->profile.name);
	return calibrate_write_profile(path, &fit->profile, &fit->message);
}

int calibrate_log(const struct calibrate_log *request)
{
	struct fit fit = {.request = request, .message = {"out of memory"}};
	char path[PATH_SIZE];
	enum dist_error error;

	dist__profile_init(&fit.profile);
	error = load(&fit);
	if (!error)
		error = move_constants(&fit);
	if (!error)
		error = measure_errors(&fit);
	if (!error)
		error = write(&fit, path, sizeof path);
	if (!error && print(&fit, path))
		error = DIST_ERR_NO_MEMORY;
	if (error)
		fprintf(stderr, "lockstep calibrate: %s\n", fit.message.text);
	free(fit.errors);
	collectives_release(&fit.table);
	dist__profile_release(&fit.profile);
	if (error)
		return error == DIST_ERR_NO_MEMORY ? DIST_EXIT_INTERNAL
						   : DIST_EXIT_USAGE;
	return DIST_EXIT_OK;
}
