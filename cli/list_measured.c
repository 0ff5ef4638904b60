/* list_measured.c - the tables of measured figures, as lockstep list shows
 * them. */
#include "cli/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/dist.h"
#include "measured/baseline.h"
#include "measured/collectives.h"
#include "measured/steps.h"
#include "trace/statistics.h"

const char *const list_measured_columns[] = {
	"name",        "kind",    "rows",   "calibration", "fit_median_pct",
	"fit_p90_pct", "machine", "source", NULL};

/* The value of a field that is the same in every row; "several" if not. */
static const char *common_value(const struct sheet *sheet, const char *field)
{
	const char *first = sheet_get(sheet, 0, field);

	for (size_t i = 1; first && i < sheet->num_rows; i++) {
		const char *value = sheet_get(sheet, i, field);

		if (!value || strcmp(value, first) != 0)
			return "several";
	}
	return first ? first : "-";
}

/* The title has no column: it stands in the JSON alone. */
static json_t *row_of(const char *name, const char *kind,
		      const struct sheet *sheet)
{
	size_t calibration = 0;

	for (size_t i = 0; i < sheet->num_rows; i++) {
		const char *use = sheet_get(sheet, i, "use");

		calibration += use && strcmp(use, "calibration") == 0;
	}
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s}", "name", name,
			 "kind", kind, "title", sheet_title(sheet), "rows",
			 (json_int_t)sheet->num_rows, "calibration",
			 (json_int_t)calibration, "machine",
			 common_value(sheet, "machine"), "source",
			 sheet_source(sheet));
}

static int refuse(const struct dist_message *message)
{
	fprintf(stderr, "lockstep list: %s\n", message->text);
	return DIST_EXIT_USAGE;
}

/* Adds to a row what the two-parameter fit misses the table by, in percent:
 * median, and what nine of ten rows stay below. Returns 0, or -1: no memory. */
static int add_fit(json_t *row, const struct collectives *read)
{
	double *errors = calloc(read->sheet.num_rows, sizeof(*errors));
	size_t num = errors ? baseline_errors(read, errors) : 0;
	int rc = errors ? 0 : -1;

	dist__sort_numbers(errors, num);
	if (num > 0)
		rc = json_object_set_new(
			     row, "fit_median_pct",
			     json_real(100 *
				       dist__quantile(errors, num, 0.5))) |
		     json_object_set_new(
			     row, "fit_p90_pct",
			     json_real(100 * dist__quantile(errors, num, 0.9)));
	free(errors);
	return rc;
}

static int add_collectives(struct table *table, const char *name,
			   const char *path)
{
	struct dist_message message;
	struct collectives read;
	json_t *row;

	if (collectives_load(&read, path, &message))
		return refuse(&message);
	row = row_of(name, "collectives", &read.sheet);
	if (add_fit(row, &read)) {
		json_decref(row);
		row = NULL;
	}
	table_add(table, row);
	collectives_release(&read);
	return DIST_EXIT_OK;
}

static int add_steps(struct table *table, const char *name, const char *path)
{
	struct dist_message message;
	struct steps read;

	if (steps_load(&read, path, &message))
		return refuse(&message);
	table_add(table, row_of(name, "steps", &read.sheet));
	steps_release(&read);
	return DIST_EXIT_OK;
}

/* A table that nothing but its form is asked of. */
static int add_plain(struct table *table, const char *name, const char *kind,
		     const char *path)
{
	struct dist_message message;
	struct sheet sheet;

	if (sheet_load(&sheet, path, &message))
		return refuse(&message);
	table_add(table, row_of(name, kind, &sheet));
	sheet_release(&sheet);
	return DIST_EXIT_OK;
}

static int add_parts(struct table *table, const char *name, const char *path)
{
	return add_plain(table, name, "parts", path);
}

static int add_hardware(struct table *table, const char *name, const char *path)
{
	return add_plain(table, name, "hardware", path);
}

int list_measured(struct table *table)
{
	static const struct {
		const char *folder;
		int (*add)(struct table *table, const char *name,
			   const char *path);
	} kinds[] = {
		{"measured/collectives", add_collectives},
		{"measured/steps", add_steps},
		{"measured/parts", add_parts},
		{"measured/hardware", add_hardware},
	};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (list_each_file(kinds[i].folder, ".tsv", kinds[i].add,
				   table))
			status = DIST_EXIT_USAGE;
	return status;
}
