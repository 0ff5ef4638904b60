/* fit.c - the rows that are given away, and what they say of a machine. */
#include "model/validation/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "base/text.h"
#include "base/statistics.h"
#include "model/cluster/machine.h"
#include "model/validation/call.h"

/* Of the smallest and of the largest size, and the tables that have them. */
struct given {
	const struct collective_row *least, *most; /* NULL: there is none */
	const struct collectives *of_least, *of_most;
};

static bool is_of(const struct fit_key *key, const struct collective_row *row)
{
	if (row->use == VALUE_NEITHER || row->nodes == 0 || !row->machine ||
	    strcmp(row->machine, key->machine) != 0 ||
	    strcmp(row->library, key->library) != 0)
		return false;
	if (!key->transport)
		return row->nodes == 1;
	return row->nodes != 1 && row->transport &&
	       strcmp(row->transport, key->transport) == 0;
}

/* The row as a call of the model's. false: the model has no word on it. */
static bool sample_of(const struct machine *machine,
		      const struct dist__profile *profile,
		      const struct collective_row *row,
		      struct library_sample *sample)
{
	struct library_estimate estimate;
	struct dist_message ignored;
	struct fabric fabric;

	*sample = (struct library_sample){.call = call_of_row(row),
					  .time_ns = row->time_us.value * 1e3};
	if (row->ranks % row->nodes != 0 ||
	    machine_fabric(machine, row->transport, row->nodes,
			   row->ranks / row->nodes, &sample->fabric, &ignored))
		return false;
	/* The rate may be a guess: what is fitted makes up for it. */
	fabric = sample->fabric;
	fabric.guessed = false;
	fabric.num_calibrations = 0;
	return !library_estimate(profile, &fabric, &sample->call, &estimate,
				 &ignored);
}

static void take(struct given *given, const struct collectives *table,
		 const struct collective_row *row)
{
	if (!given->least || row->bytes < given->least->bytes) {
		given->least = row;
		given->of_least = table;
	}
	if (!given->most || row->bytes > given->most->bytes) {
		given->most = row;
		given->of_most = table;
	}
}

static struct given find_given(const struct machine *machine,
			       const struct dist__profile *profile,
			       const struct fit_key *key,
			       const struct collectives *const *tables,
			       size_t num_tables)
{
	struct given given = {.least = NULL};
	struct library_sample ignored;

	for (size_t t = 0; t < num_tables; t++)
		for (size_t i = 0; i < tables[t]->tsv.num_rows; i++) {
			const struct collective_row *row = &tables[t]->rows[i];

			if (row->use == VALUE_CALIBRATION && is_of(key, row) &&
			    sample_of(machine, profile, row, &ignored))
				take(&given, tables[t], row);
		}
	return given;
}

/* Adds the name of the table's file, without folder and ".tsv". */
static void add_name(struct calibration *c, const struct collectives *table)
{
	const char *path = table->tsv.path ? table->tsv.path : "rows";
	char name[256];

	dist__stem(name, sizeof name, path, ".tsv");
	(void)dist__append(c->from, sizeof c->from, "%s%s",
			   c->from[0] ? ", " : "", name);
	/* The text is one of YAML, and a word of library_calibration_print()'s.
	 */
	for (char *at = c->from; *at; at++)
		if (strchr(";:#'\"{}[]&*!|>%@`", *at))
			*at = '_';
}

/* Rows of different versions, or of one that is not stated, are of none: a call
 * that states none is not of either's. */
static void describe(struct calibration *c, const struct given *given,
		     bool small, bool large)
{
	const char *version = (large ? given->most : given->least)->version;

	if (small && large && !dist__same_text(version, given->least->version))
		version = NULL;
	c->rows = small + large;
	c->from[0] = '\0';
	if (small)
		add_name(c, given->of_least);
	if (large && (!small || given->of_most != given->of_least))
		add_name(c, given->of_most);
	snprintf(c->version, sizeof c->version, "%s", version ? version : "");
}

/* The median error of all rows of key. */
static enum dist_error check(const struct machine *machine,
			     const struct dist__profile *profile,
			     const struct fit_key *key,
			     const struct collectives *const *tables,
			     size_t num_tables, struct calibration *c)
{
	struct library_sample sample;
	struct library_estimate estimate;
	struct dist_message ignored;
	size_t most = 0, num = 0;
	double *errors;

	for (size_t t = 0; t < num_tables; t++)
		most += tables[t]->tsv.num_rows;
	errors = calloc(most + 1, sizeof *errors);
	if (!errors)
		return DIST_ERR_NO_MEMORY;
	for (size_t t = 0; t < num_tables; t++)
		for (size_t i = 0; i < tables[t]->tsv.num_rows; i++) {
			const struct collective_row *row = &tables[t]->rows[i];

			if (!is_of(key, row) ||
			    !sample_of(machine, profile, row, &sample))
				continue;
			sample.fabric.calibrations = c;
			sample.fabric.num_calibrations = 1;
			if (!library_estimate(profile, &sample.fabric,
					      &sample.call, &estimate,
					      &ignored))
				errors[num++] =
					fabs(library_time_ns(&estimate) /
						     sample.time_ns -
					     1);
		}
	dist__sort_numbers(errors, num);
	c->checked = (int)num;
	c->error = num ? dist__quantile(errors, num, 0.5) : 0;
	free(errors);
	return DIST_OK;
}

enum dist_error fit_rows(const struct machine *machine,
			 const struct dist__profile *profile,
			 const struct fit_key *key,
			 const struct collectives *const *tables,
			 size_t num_tables, struct calibration *calibration,
			 struct dist_message *message)
{
	const struct given given =
		find_given(machine, profile, key, tables, num_tables);
	struct calibration_constant *constants = calibration->constants;
	struct library_sample least, most;
	enum dist_error error;
	bool small, large;
	size_t kept = 0;

	calibration->rows = 0;
	for (size_t i = 0; i < calibration->num_constants; i++)
		if (constants[i].is_given)
			constants[kept++] = constants[i];
	calibration->num_constants = kept;
	if (!given.most || !sample_of(machine, profile, given.least, &least) ||
	    !sample_of(machine, profile, given.most, &most))
		return DIST_OK;
	small = given.least->bytes <= LIBRARY_SMALL_BYTES;
	large = given.most->bytes > LIBRARY_SMALL_BYTES;
	describe(calibration, &given, small, large);
	error = library_calibrate(profile, small ? &least : NULL,
				  large ? &most : NULL, calibration, message);
	return error ? error
		     : check(machine, profile, key, tables, num_tables,
			     calibration);
}

enum dist_error fit_keep(struct machine *machine,
			 const struct calibration *calibration,
			 struct dist_message *message)
{
	size_t i = 0;

	while (i < machine->num_calibrations &&
	       (strcmp(machine->calibrations[i].library,
		       calibration->library) != 0 ||
		strcmp(machine->calibrations[i].transport,
		       calibration->transport) != 0))
		i++;
	if (i == CALIBRATIONS)
		return dist__refuse(message,
				    "%s: expected at most %d calibrations",
				    machine->title, CALIBRATIONS);
	machine->calibrations[i] = *calibration;
	if (i == machine->num_calibrations)
		machine->num_calibrations++;
	return DIST_OK;
}
