#include "cli/calibrate_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <stdarg.h>

#include "cli/log_arguments.h"
#include "base/array.h"
#include "base/data.h"
#include "base/refuse.h"
#include "model/measured/machine.h"
#include "model/cluster/machine.h"
#include "base/statistics.h"
#include "base/text.h"
#include "model/validation/call.h"
#include "model/validation/fit.h"
#include "model/measured/collectives.h"

/* ---- hints, where measured times fit neither the machine nor the model --- */

#define ADVICE_LINES 8

struct calibrate_advice {
	char lines[ADVICE_LINES][192];
	size_t num;
};

/* More than a link's rate by its rounding; much less than it; a median error
 * that is no good prediction; rows of one size that differ; a row that takes so
 * much longer than one of the next size. */
#define TOO_MUCH   1.05
#define TOO_LITTLE 0.1
#define TOO_FAR    0.2
#define NOISY      0.15
#define STANDS_OUT 1.5

__attribute__((format(printf, 2, 3))) static void
add(struct calibrate_advice *advice, const char *format, ...)
{
	char line[sizeof advice->lines[0]];
	va_list arguments;

	if (advice->num == ADVICE_LINES)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < advice->num; i++)
		if (strcmp(advice->lines[i], line) == 0)
			return;
	memcpy(advice->lines[advice->num++], line, sizeof line);
}

static const struct collective_row *
find_largest(const struct collectives *table)
{
	const struct collective_row *largest = NULL;

	for (size_t i = 0; i < table->tsv.num_rows; i++)
		if (!largest || table->rows[i].bytes > largest->bytes)
			largest = &table->rows[i];
	return largest;
}

/* What the largest call makes of the links. */
static void look_at_rate(struct calibrate_advice *advice,
			 const struct machine *machine,
			 const struct collective_row *row)
{
	struct dist_message ignored;
	struct fabric fabric;
	double share, link_Bps, bytes;

	if (row->bytes < (size_t)64 << 20 ||
	    machine_fabric(machine, row->transport, row->nodes,
			   row->ranks / row->nodes, &fabric, &ignored) ||
	    fabric.guessed)
		return;
	link_Bps = row->nodes > 1 ? fabric.cards * fabric.card_Bps
				  : fabric.intra_Bps;
	if (fabric.card_nodes > 1 || !(link_Bps > 0))
		return;
	bytes = (double)row->bytes *
		collective_bus_factor(row->collective,
				      row->nodes > 1 ? row->nodes : row->ranks);
	/* Switches may sum. */
	if (row->collective == COLLECTIVE_ALL_REDUCE && row->nodes == 1 &&
	    fabric.intra == FABRIC_NVSWITCH)
		bytes /= 2;
	if (row->collective == COLLECTIVE_ALL_TO_ALL && row->nodes > 1)
		bytes *= fabric.node_ranks;
	share = bytes / (row->time_us.value * 1e-6) / link_Bps;
	if (share > TOO_MUCH && row->nodes > 1)
		add(advice,
		    "the rate is %.0f %% of what %d card%s of %.0f Gbit/s "
		    "ha%s: are there more or faster ones, or is it another "
		    "transport?",
		    share * 100, fabric.cards, fabric.cards == 1 ? "" : "s",
		    fabric.card_Bps * 8e-9, fabric.cards == 1 ? "s" : "ve");
	else if (share > TOO_MUCH)
		add(advice,
		    "the rate is %.0f %% of what the links of a GPU have, "
		    "%.0f GB/s: is it this machine?",
		    share * 100, link_Bps / 1e9);
	else if (share < TOO_LITTLE)
		add(advice,
		    "the rate is only %.0f %% of what the links have: is it "
		    "another transport, or are sizes above %zu MiB missing?",
		    share * 100, row->bytes >> 20);
}

/* Times of one size, and of sizes that follow each other. Rows of a run are in
 * its order: out of place, in place, the next size. */
static void look_at_noise(struct calibrate_advice *advice,
			  const struct collectives *table)
{
	size_t num = table->tsv.num_rows, pairs = 0, outliers = 0;
	double *spread = calloc(num + 1, sizeof *spread);

	for (size_t i = 0; spread && i < num; i++) {
		const struct collective_row *row = &table->rows[i];

		for (size_t j = i + 1; j < num && j <= i + 2; j++) {
			const struct collective_row *next = row + (j - i);
			double ratio = row->time_us.value / next->time_us.value;

			if (next->collective != row->collective)
				break;
			if (next->bytes == row->bytes)
				spread[pairs++] = fabs(ratio - 1);
			if (next->bytes > row->bytes &&
			    strcmp(next->place, row->place) == 0)
				outliers += ratio > STANDS_OUT;
		}
	}
	if (pairs > 0) {
		dist__sort_numbers(spread, pairs);
		if (dist__quantile(spread, pairs, 0.5) > NOISY)
			add(advice,
			    "rows of one size differ by %.0f %% (median): no "
			    "prediction can be nearer",
			    dist__quantile(spread, pairs, 0.5) * 100);
	}
	if (outliers > 0)
		add(advice,
		    "rows that take half again as long as the next size: "
		    "%zu; noise, or a first call that starts things (-w)",
		    outliers);
	free(spread);
}

/*
 * calibrate_advise adds a line for each of these: the rows of table carry more
 * than the links of machine, or much less; calibration ends at a bound; the
 * rows spread; the median error of the model is large.
 */
static void calibrate_advise(struct calibrate_advice *advice,
			     const struct machine *machine,
			     const struct collectives *table,
			     const struct calibration *calibration,
			     double error)
{
	const struct collective_row *largest = find_largest(table);
	size_t before = advice->num;

	if (!largest)
		return;
	look_at_rate(advice, machine, largest);
	for (size_t i = 0; i < calibration->num_constants; i++) {
		const struct calibration_constant *c =
			&calibration->constants[i];

		if (c->is_at_bound && strcmp(c->name, "launch_us") == 0)
			add(advice,
			    "launch_us ends at %g, its bound: calls start "
			    "sooner than modelled; were they timed in a CUDA "
			    "graph (-G) or several at once (-m)?",
			    c->value);
		else if (c->is_at_bound)
			add(advice,
			    "%s ends at %g, its bound: is it this machine and "
			    "transport?",
			    c->name, c->value);
	}
	look_at_noise(advice, table);
	/* What nothing else explains. */
	if (error <= TOO_FAR || advice->num > before)
		return;
	if (!largest->version && strcmp(largest->library, "nccl") == 0)
		add(advice, "the log does not say which NCCL it is: "
			    "--nccl-version 2.M");
	if (!largest->algorithm)
		add(advice, "were an algorithm or protocol forced (NCCL_ALGO, "
			    "NCCL_PROTO), the log would have to say it");
}

#define PATH_SIZE 4096

/* Networks of a machine, and its single node. */
#define MOST_FITS (MACHINE_MOST_NETWORKS + 1)

/* All that a fit is made of. */
struct fit {
	const struct calibrate_log *request;
	struct machine machine;
	struct dist__profile profile;
	struct collectives *tables; /* of the logs; owned */
	const struct collectives **all;
	size_t num_tables;
	struct calibration results[MOST_FITS];
	size_t num_results;
	double *errors; /* of the rows, in rising order */
	size_t num_errors, num_unknown;
	struct calibrate_advice advice;
	struct dist_message message;
};

/* ---- what is given ---------------------------------------------------- */

static enum dist_error load_profile(struct fit *fit)
{
	enum dist_error error = dist__profile_find(
		&fit->profile, fit->request->profile, &fit->message);

	return error ? error : library_check(&fit->profile, &fit->message);
}

static enum dist_error load_log(struct fit *fit, const char *path)
{
	struct log_facts facts = fit->request->facts;
	struct collectives *table = &fit->tables[fit->num_tables];
	struct log_notes notes;
	enum dist_error error;

	facts.library = fit->profile.library;
	facts.described = &fit->machine;
	error = collectives_load_log(table, path, &facts, &notes,
				     &fit->message);
	if (error)
		return error;
	fit->all[fit->num_tables++] = table;
	log_notes_print("calibrate", path, &notes);
	collectives_give_away(table);
	return DIST_OK;
}

static enum dist_error load(struct fit *fit)
{
	const struct calibrate_log *request = fit->request;
	enum dist_error error =
		log_machine_load(&request->facts, &fit->machine, &fit->message);

	fit->tables = calloc(request->num_logs, sizeof *fit->tables);
	fit->all = calloc(request->num_logs, sizeof *fit->all);
	if (!error && (!fit->tables || !fit->all))
		return DIST_ERR_NO_MEMORY;
	if (!error)
		error = load_profile(fit);
	for (size_t i = 0; i < request->num_logs && !error; i++)
		error = load_log(fit, request->logs[i]);
	return error;
}

/* ---- the fit ---------------------------------------------------------- */

/* Between the nodes of row; NULL: there is one. */
static const char *transport_of(const struct collective_row *row)
{
	return row->nodes > 1 ? row->transport : NULL;
}

/* What the machine knows already goes, but for what was given to it. */
static enum dist_error fit_rows_like(struct fit *fit,
				     const struct collective_row *row)
{
	const struct fit_key key = {row->machine, row->library,
				    transport_of(row)};
	const struct calibration *known = library_calibration_find(
		fit->machine.calibrations, fit->machine.num_calibrations,
		library_name(&fit->profile), key.transport);
	struct calibration *result = &fit->results[fit->num_results];
	time_t now = time(NULL);
	struct tm day;
	enum dist_error error;

	if (known)
		*result = *known;
	error = fit_rows(&fit->machine, &fit->profile, &key, fit->all,
			 fit->num_tables, result, &fit->message);
	if (error || result->rows == 0)
		return error;
	strftime(result->date, sizeof result->date, "%Y-%m-%d",
		 gmtime_r(&now, &day));
	fit->num_results++;
	return fit_keep(&fit->machine, result, &fit->message);
}

/* The fit of rows like this one; NULL: there is none yet. */
static const struct calibration *result_of(const struct fit *fit,
					   const struct collective_row *row)
{
	return library_calibration_find(fit->results, fit->num_results,
					library_name(&fit->profile),
					transport_of(row));
}

static enum dist_error fit_constants(struct fit *fit)
{
	enum dist_error error = DIST_OK;

	for (size_t t = 0; t < fit->num_tables; t++)
		for (size_t i = 0; i < fit->all[t]->tsv.num_rows && !error;
		     i++) {
			const struct collective_row *row =
				&fit->all[t]->rows[i];

			if (row->use == VALUE_CALIBRATION &&
			    !result_of(fit, row) &&
			    fit->num_results < MOST_FITS)
				error = fit_rows_like(fit, row);
		}
	if (!error && fit->num_results == 0)
		error = dist__refuse(
			&fit->message,
			"%s: expected a row that the model of %s can predict",
			fit->request->logs[0], fit->profile.library);
	return error;
}

/* How far off the model is now, over all rows of a table that it has a word
 * on; what there is to say of them. */
static enum dist_error measure_errors(struct fit *fit,
				      const struct collectives *table)
{
	size_t rows = table->tsv.num_rows, before = fit->num_errors;
	const struct calibration *result = NULL;

	for (size_t i = 0; i < rows; i++) {
		const struct collective_row *row = &table->rows[i];
		const struct library_call call = call_of_row(row);
		struct library_estimate estimate;
		struct dist_message ignored;
		struct fabric fabric;
		double off;

		if (row->use == VALUE_NEITHER)
			continue;
		if (machine_fabric(&fit->machine, row->transport, row->nodes,
				   row->ranks / row->nodes, &fabric,
				   &ignored) ||
		    library_estimate(&fit->profile, &fabric, &call, &estimate,
				     &ignored)) {
			fit->num_unknown++;
			continue;
		}
		result = result_of(fit, row);
		off = fabs(library_time_ns(&estimate) /
				   (row->time_us.value * 1e3) -
			   1);
		if (!dist__array_add(&fit->errors, &fit->num_errors, &off,
				     sizeof off))
			return DIST_ERR_NO_MEMORY;
	}
	dist__sort_numbers(fit->errors + before, fit->num_errors - before);
	if (result)
		calibrate_advise(&fit->advice, &fit->machine, table, result,
				 dist__quantile(fit->errors + before,
						fit->num_errors - before, 0.5));
	return DIST_OK;
}

static enum dist_error measure_all(struct fit *fit)
{
	enum dist_error error = DIST_OK;

	for (size_t t = 0; t < fit->num_tables && !error; t++)
		error = measure_errors(fit, fit->all[t]);
	dist__sort_numbers(fit->errors, fit->num_errors);
	return error;
}

/* ---- what became of it ------------------------------------------------ */

static struct dist__rows constants_of(const struct calibration *result,
				      struct dist__rows rows)
{
	for (size_t i = 0; i < result->num_constants; i++) {
		const struct calibration_constant *c = &result->constants[i];

		ADD_ROW(&rows, cell_text(c->name), cell_real(c->value),
			cell_text(c->is_at_bound ? "at its bound"
				  : c->is_given  ? "given"
						 : "fitted"),
			cell_text(result->transport[0] ? result->transport
						       : "one node"));
	}
	return rows;
}

#define CONSTANT_COLUMNS "constant;value;note;transport|between nodes"

static int print_json(const struct fit *fit, const char *path)
{
	struct dist__rows constants = {.columns = CONSTANT_COLUMNS};
	json_t *advice = json_array();
	double residual = 0;

	for (size_t i = 0; i < fit->num_results; i++) {
		constants = constants_of(&fit->results[i], constants);
		residual = fmax(residual, fit->results[i].residual);
	}
	for (size_t i = 0; i < fit->advice.num; i++)
		json_array_append_new(advice,
				      json_string(fit->advice.lines[i]));
	return dist__json_print(
		json_pack("{so sf sI sf sf sI so ss}", "constants",
			  dist__rows_json(&constants), "residual", residual,
			  "rows", (json_int_t)fit->num_errors, "median",
			  dist__quantile(fit->errors, fit->num_errors, 0.5),
			  "p90",
			  dist__quantile(fit->errors, fit->num_errors, 0.9),
			  "left_out", (json_int_t)fit->num_unknown, "advice",
			  advice, "machine", path),
		stdout);
}

/* Returns 0, -1: no memory. */
static int print(const struct fit *fit, const char *path)
{
	enum dist__form form = fit->request->form;
	const char *blank = form == FORM_MARKDOWN ? "\n" : "";
	char text[256];
	int failed = 0;

	if (form == FORM_JSON)
		return print_json(fit, path);
	for (size_t i = 0; i < fit->num_results; i++) {
		struct dist__rows constants = constants_of(
			&fit->results[i],
			(struct dist__rows){.columns = CONSTANT_COLUMNS});

		if (fit->results[i].num_constants > 0)
			failed |= dist__rows_print(&constants, form, stdout);
		dist__rows_release(&constants);
		library_calibration_describe(&fit->results[i], text,
					     sizeof text);
		printf("%s%s\n%s", blank, text, blank);
	}
	printf("all %zu rows: median %.1f %%, 90th percentile %.1f %%\n",
	       fit->num_errors,
	       dist__quantile(fit->errors, fit->num_errors, 0.5) * 100,
	       dist__quantile(fit->errors, fit->num_errors, 0.9) * 100);
	if (fit->num_unknown)
		printf("left out: %zu rows that the model of %s has no word "
		       "on\n",
		       fit->num_unknown, library_name(&fit->profile));
	for (size_t i = 0; i < fit->advice.num; i++)
		printf("%slook: %s\n", blank, fit->advice.lines[i]);
	printf("%swrote %s\n", blank, path);
	return failed;
}

/* The machine's file, with what is known now. */
static enum dist_error write(struct fit *fit, char *path, size_t size)
{
	const struct calibrate_log *request = fit->request;
	const char *name = dist__base_name(request->facts.machine);
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
		error = measure_all(&fit);
	if (!error)
		error = write(&fit, path, sizeof path);
	if (!error && print(&fit, path))
		error = DIST_ERR_NO_MEMORY;
	if (error)
		fprintf(stderr, "lockstep calibrate: %s\n", fit.message.text);
	free(fit.errors);
	for (size_t t = 0; t < fit.num_tables; t++)
		dist__tsv_release(&fit.tables[t].tsv);
	free(fit.tables);
	free(fit.all);
	dist__profile_release(&fit.profile);
	if (error)
		return error == DIST_ERR_NO_MEMORY ? DIST_EXIT_INTERNAL
						   : DIST_EXIT_USAGE;
	return DIST_EXIT_OK;
}
