#include "cli/calibrate_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/log_arguments.h"
#include "base/data.h"
#include "base/refuse.h"
#include "model/measured/machine.h"
#include "model/cluster/machine.h"
#include "base/statistics.h"
#include "model/validation/call.h"
#include "model/validation/fit.h"

#define PATH_SIZE 4096

/* All that a fit is made of. */
struct fit {
	const struct calibrate_log *request;
	struct machine machine;
	struct dist__profile profile;
	struct collectives table;
	struct calibration result;
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
	return error ? error : library_check(&fit->profile, &fit->message);
}

static enum dist_error load(struct fit *fit)
{
	struct log_facts facts = fit->request->facts;
	struct log_notes notes;
	enum dist_error error = log_machine_load(&fit->request->facts,
						 &fit->machine, &fit->message);

	if (!error)
		error = load_profile(fit);
	facts.library = fit->profile.library;
	facts.described = &fit->machine;
	if (!error)
		error = collectives_load_log(&fit->table, fit->request->log,
					     &facts, &notes, &fit->message);
	if (!error)
		log_notes_print("calibrate", fit->request->log, &notes);
	if (!error)
		collectives_give_away(&fit->table);
	return error;
}

/* ---- the fit ---------------------------------------------------------- */

/* What the machine knows already goes, but for what was given to it. */
static enum dist_error fit_constants(struct fit *fit)
{
	const struct collectives *const tables[] = {&fit->table};
	const struct collective_row *row = &fit->table.rows[0];
	const struct fit_key key = {row->machine, row->library,
				    row->nodes > 1 ? row->transport : NULL};
	const struct calibration *known = library_calibration_find(
		fit->machine.calibrations, fit->machine.num_calibrations,
		library_name(&fit->profile), key.transport);
	time_t now = time(NULL);
	struct tm day;
	enum dist_error error;

	if (known)
		fit->result = *known;
	error = fit_rows(&fit->machine, &fit->profile, &key, tables, 1,
			 &fit->result, &fit->message);
	if (!error && fit->result.rows == 0)
		error = dist__refuse(&fit->message,
				     "%s: expected a row that the model of %s "
				     "can predict",
				     fit->request->log, row->library);
	if (!error)
		error = fit_keep(&fit->machine, &fit->result, &fit->message);
	strftime(fit->result.date, sizeof fit->result.date, "%Y-%m-%d",
		 gmtime_r(&now, &day));
	return error ? error
		     : fit_keep(&fit->machine, &fit->result, &fit->message);
}

/* How far off the model is now, over all rows. */
static enum dist_error measure_errors(struct fit *fit)
{
	size_t rows = fit->table.tsv.num_rows;
	enum dist_error error = DIST_OK;

	fit->errors = calloc(rows, sizeof *fit->errors);
	if (!fit->errors)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < rows && !error; i++) {
		const struct collective_row *row = &fit->table.rows[i];
		const struct library_call call = call_of_row(row);
		struct library_estimate estimate;
		struct fabric fabric;

		if (row->use == VALUE_NEITHER)
			continue;
		error = machine_fabric(&fit->machine, row->transport,
				       row->nodes, row->ranks / row->nodes,
				       &fabric, &fit->message);
		if (!error)
			error = library_estimate(&fit->profile, &fabric, &call,
						 &estimate, &fit->message);
		if (!error)
			fit->errors[fit->num_errors++] =
				fabs(library_time_ns(&estimate) /
					     (row->time_us.value * 1e3) -
				     1);
	}
	dist__sort_numbers(fit->errors, fit->num_errors);
	return error;
}

/* ---- what became of it ------------------------------------------------ */

/* Returns 0, -1: no memory. */
static int print(const struct fit *fit, const char *path)
{
	const struct calibration *result = &fit->result;
	double median = dist__quantile(fit->errors, fit->num_errors, 0.5);
	double p90 = dist__quantile(fit->errors, fit->num_errors, 0.9);
	struct dist__rows constants = {.columns = "constant;value;note"};
	enum dist__form form = fit->request->form;
	char text[256];
	int failed = 0;

	for (size_t i = 0; i < result->num_constants; i++)
		ADD_ROW(&constants, cell_text(result->constants[i].name),
			cell_real(result->constants[i].value),
			cell_text(result->constants[i].is_at_bound
					  ? "at its bound"
				  : result->constants[i].is_given ? "given"
								  : "fitted"));
	if (form == FORM_JSON)
		return dist__json_print(
			json_pack("{so sf sI sf sf ss}", "constants",
				  dist__rows_json(&constants), "residual",
				  result->residual, "rows",
				  (json_int_t)fit->num_errors, "median", median,
				  "p90", p90, "machine", path),
			stdout);
	if (result->num_constants > 0)
		failed = dist__rows_print(&constants, form, stdout);
	dist__rows_release(&constants);
	library_calibration_describe(result, text, sizeof text);
	printf("%s%s; 90th percentile %.1f %%\nwrote %s\n",
	       form == FORM_MARKDOWN ? "\n" : "", text, p90 * 100, path);
	return failed;
}

/* The machine's file, with what is known now. */
static enum dist_error write(struct fit *fit, char *path, size_t size)
{
	const struct calibrate_log *request = fit->request;
	const char *slash = strrchr(request->facts.machine, '/');
	const char *name = slash ? slash + 1 : request->facts.machine;
	char old[PATH_SIZE];
	enum dist_error error =
		dist__data_find("machines", request->facts.machine, ".yaml",
				old, sizeof old, &fit->message);

	snprintf(path, size, "%s/%.*s.yaml", request->dir,
		 (int)strcspn(name, "."), name);
	return error ? error
		     : machine_write(&fit->machine, old, path, &fit->message);
}

int calibrate_log(const struct calibrate_log *request)
{
	struct fit fit = {.request = request, .message = {"out of memory"}};
	char path[PATH_SIZE];
	enum dist_error error;

	dist__profile_init(&fit.profile);
	error = load(&fit);
	if (!error)
		error = fit_constants(&fit);
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
