/*
 * population.c - a fit of all machines at once. Numbers of the fit are the
 * library's constants and, of each machine and way between its nodes, how it
 * differs in those that are a machine's. So what one machine's launches or
 * links are like is not taken for what an algorithm does, and a machine that
 * nobody has seen gets the middle of those that were.
 */
#include "model/validation/population.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/cluster/machine.h"
#include "model/library/calibrate.h"
#include "model/library/library.h"
#include "model/library/transport.h"
#include "model/validation/call.h"
#include "model/validation/least_squares.h"

/* What a row is off by that no constant explains: two machines of one type
 * differ by 3 % by median, and by up to 17 %. */
#define USUAL_ERROR 0.15

/* Rows of one table are off together: they count as so many at most. */
#define TABLE_ROWS 12

/* And are looked at, each of the series in its turn, up to about so many. */
#define MOST_ROWS 64

struct sample {
	struct library_sample measured;
	double weight;
	size_t group;
};

/* Rows of one machine and way, which follow each other. */
struct group {
	const char *machine, *transport; /* NULL: one node */
	struct machine description;
	bool known;
	size_t first, last; /* samples */
};

struct fit {
	const struct population *population;
	struct dist__profile *profile;
	struct library_constant *constants; /* that the profile states */
	size_t num_constants;
	size_t num_own; /* of them that are a machine's */
	struct sample *samples;
	size_t num_samples;
	struct group *groups;
	size_t num_groups;
	double *weights;
	size_t *first, *last;
	double *x;
	enum dist_error error;
};

/* ---- rows ------------------------------------------------------------- */

static bool is_used(const struct fit *fit, const char *library,
		    const struct collective_row *row)
{
	const struct population *population = fit->population;

	if (row->use == VALUE_NEITHER || !row->machine ||
	    strcmp(collective_profile(row->library), library) != 0)
		return false;
	if (population->without_machine &&
	    strcmp(row->machine, population->without_machine) == 0)
		return false;
	return !population->without_transport ||
	       !transport_is(row->transport, population->without_transport);
}

/* Finds the row's group, or appends one; NULL: no memory. */
static struct group *group_of(struct fit *fit, const struct collective_row *row)
{
	const char *transport = row->nodes == 1 ? NULL : row->transport;
	struct group fresh = {.machine = row->machine, .transport = transport};
	struct dist_message ignored;

	for (size_t i = 0; i < fit->num_groups; i++)
		if (strcmp(fit->groups[i].machine, row->machine) == 0 &&
		    dist__same_text(fit->groups[i].transport, transport))
			return &fit->groups[i];
	fresh.known = !machine_find(&fresh.description, row->machine, &ignored);
	return dist__array_add(&fit->groups, &fit->num_groups, &fresh,
			       sizeof fresh);
}

/* The row as a call; false: the model has no word on it. Of a rate that nobody
 * knows short calls say nothing, and the longer ones nothing else. */
static bool sample_of(struct fit *fit, const struct group *group,
		      const struct collective_row *row, struct sample *sample)
{
	struct library_estimate estimate;
	struct dist_message ignored;

	*sample = (struct sample){
		.measured = {.call = call_of_row(row),
			     .time_ns = 1e3 * row->time_us.value},
		.group = (size_t)(group - fit->groups)};
	if (!group->known || row->nodes == 0 || row->ranks % row->nodes != 0 ||
	    !(row->time_us.value > 0) ||
	    machine_fabric(&group->description, group->transport, row->nodes,
			   row->ranks / row->nodes, &sample->measured.fabric,
			   &ignored) ||
	    (sample->measured.fabric.guessed &&
	     row->bytes > LIBRARY_SMALL_BYTES))
		return false;
	sample->measured.fabric.guessed = false;
	sample->measured.fabric.num_calibrations = 0;
	return library_estimate(fit->profile, &sample->measured.fabric,
				&sample->measured.call, &estimate,
				&ignored) == DIST_OK;
}

static enum dist_error add_table(struct fit *fit, const char *library,
				 const struct collectives *table)
{
	size_t used = 0, every, num = fit->num_samples;
	struct sample *samples;

	for (size_t i = 0; i < table->tsv.num_rows; i++)
		used += is_used(fit, library, &table->rows[i]);
	if (used == 0)
		return DIST_OK;
	every = (used + MOST_ROWS - 1) / MOST_ROWS;
	samples = realloc(fit->samples, (num + used) * sizeof *samples);
	if (!samples)
		return DIST_ERR_NO_MEMORY;
	fit->samples = samples;
	used = 0;
	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct collective_row *row = &table->rows[i];
		struct group *group;

		if (!is_used(fit, library, row) || used++ % every != 0)
			continue;
		group = group_of(fit, row);
		if (!group)
			return DIST_ERR_NO_MEMORY;
		if (sample_of(fit, group, row, &samples[fit->num_samples]))
			fit->num_samples++;
	}
	for (size_t i = num; i < fit->num_samples; i++)
		samples[i].weight =
			fmin(1, TABLE_ROWS / (double)(fit->num_samples - num));
	return DIST_OK;
}

/* Puts the rows of each group side by side; those of one stay in order. */
static enum dist_error sort(struct fit *fit)
{
	struct sample *sorted = calloc(fit->num_samples + 1, sizeof *sorted);
	size_t num = 0;

	if (!sorted)
		return DIST_ERR_NO_MEMORY;
	for (size_t g = 0; g < fit->num_groups; g++) {
		fit->groups[g].first = num;
		for (size_t i = 0; i < fit->num_samples; i++)
			if (fit->samples[i].group == g)
				sorted[num++] = fit->samples[i];
		fit->groups[g].last = num;
	}
	free(fit->samples);
	fit->samples = sorted;
	return DIST_OK;
}

/* ---- numbers ------------------------------------------------------------ */

/* Of a constant: by how many spreads it is off its start, and, of a machine,
 * by how many of its own. */
static double value_of(const struct library_constant *constant, double all,
		       double own)
{
	double value;

	if (constant->start == 0)
		value = constant->spread * all + constant->machine * own;
	else
		value = constant->start *
			exp(constant->spread * all + constant->machine * own);
	return fmin(constant->most, fmax(constant->least, value));
}

/* Where the numbers of a group begin among all. */
static size_t own_of(const struct fit *fit, size_t group)
{
	return fit->num_constants + group * fit->num_own;
}

/* own: NULL for a machine like all. */
static void set_constants(struct fit *fit, const double *all, const double *own)
{
	for (size_t i = 0; i < fit->num_constants && !fit->error; i++) {
		const struct library_constant *constant = &fit->constants[i];
		double off = own && constant->machine > 0 ? *own++ : 0;

		fit->error =
			library_constant_set(fit->profile, constant,
					     value_of(constant, all[i], off));
	}
}

static void residuals(void *context, const double *x, size_t first, size_t last,
		      double *r)
{
	struct fit *fit = context;
	size_t group = fit->num_groups;

	for (size_t i = first; i < last && !fit->error; i++) {
		const struct sample *sample = &fit->samples[i];
		struct library_estimate estimate;
		struct dist_message ignored;

		if (sample->group != group)
			set_constants(fit, x, x + own_of(fit, sample->group));
		group = sample->group;
		if (fit->error ||
		    library_estimate(fit->profile, &sample->measured.fabric,
				     &sample->measured.call, &estimate,
				     &ignored))
			r[i] = 0;
		else
			r[i] = log(library_time_ns(&estimate) /
				   sample->measured.time_ns) /
			       USUAL_ERROR;
	}
}

static enum dist_error solve(struct fit *fit)
{
	size_t count = fit->num_constants;
	size_t num = own_of(fit, fit->num_groups);
	struct least_squares problem = {.num = num,
					.num_rows = fit->num_samples,
					.residuals = residuals,
					.context = fit};
	enum dist_error error;

	fit->x = calloc(num, sizeof *fit->x);
	fit->first = calloc(num, sizeof *fit->first);
	fit->last = calloc(num, sizeof *fit->last);
	fit->weights = calloc(fit->num_samples + 1, sizeof *fit->weights);
	if (!fit->x || !fit->first || !fit->last || !fit->weights)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < fit->num_samples; i++)
		fit->weights[i] = fit->samples[i].weight;
	for (size_t i = 0; i < count; i++)
		if (fit->constants[i].spread > 0)
			fit->last[i] = fit->num_samples;
	for (size_t i = count; i < num; i++) {
		const struct group *group =
			&fit->groups[(i - count) / fit->num_own];

		fit->first[i] = group->first;
		fit->last[i] = group->last;
	}
	problem.x = fit->x;
	problem.first = fit->first;
	problem.last = fit->last;
	problem.weights = fit->weights;
	error = least_squares_solve(&problem);
	return error ? error : fit->error;
}

/* Errors: NO_MEMORY. */
static enum dist_error choose(struct fit *fit,
			      const struct library_constant *all)
{
	size_t num = 0;

	while (all[num].name)
		num++;
	fit->constants = calloc(num + 1, sizeof *fit->constants);
	if (!fit->constants)
		return DIST_ERR_NO_MEMORY;
	for (; all->name; all++) {
		if (!isfinite(library_constant_value(fit->profile, all)))
			continue;
		fit->constants[fit->num_constants++] = *all;
		fit->num_own += all->machine > 0;
	}
	return DIST_OK;
}

enum dist_error population_fit(const struct population *population,
			       const char *library,
			       struct dist__profile *profile)
{
	struct fit fit = {.population = population, .profile = profile};
	const struct library_constant *all = library_fitted(profile);
	enum dist_error error = all ? choose(&fit, all) : DIST_OK;

	if (!all)
		return DIST_OK;
	for (size_t i = 0; !error && i < population->num_tables; i++)
		error = add_table(&fit, library, population->tables[i]);
	if (!error)
		error = sort(&fit);
	if (!error)
		error = solve(&fit);
	if (!error) {
		set_constants(&fit, fit.x, NULL);
		error = fit.error;
	}
	free(fit.constants);
	free(fit.samples);
	free(fit.groups);
	free(fit.weights);
	free(fit.first);
	free(fit.last);
	free(fit.x);
	return error;
}
