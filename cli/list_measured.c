/* list_measured.c - the tables of measured figures, as lockstep list shows
 * them. */
#include "cli/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/dist.h"
#include "model/measured/baseline.h"
#include "model/measured/collectives.h"
#include "model/measured/steps.h"
#include "base/statistics.h"

/* The title has no column: it stands in the JSON and TSV alone. */
const char list_measured_columns[] = "name;kind;title|;rows;calibration;fit_"
				     "median_pct;fit_p90_pct;machine;source";

/* The value of a field that is the same in every row; "several" if not, NULL:
 * none has it. */
static const char *common_value(const struct tsv_table *tsv, const char *field)
{
	const char *first = dist__tsv_get(tsv, 0, field);

	for (size_t i = 1; first && i < tsv->num_rows; i++) {
		const char *value = dist__tsv_get(tsv, i, field);

		if (!value || strcmp(value, first) != 0)
			return "several";
	}
	return first;
}

/* What the two-parameter fit misses a table by, in percent: median, and what
 * nine of ten rows stay below; NAN: it is none of collectives. */
struct fit {
	double median, p90;
};

static const struct fit no_fit = {NAN, NAN};

static void add_row(struct dist__rows *table, const char *name,
		    const char *kind, const struct tsv_table *tsv,
		    struct fit fit)
{
	int64_t calibration = 0;

	for (size_t i = 0; i < tsv->num_rows; i++) {
		const char *use = dist__tsv_get(tsv, i, "use");

		calibration += use && strcmp(use, "calibration") == 0;
	}
	ADD_ROW(table, cell_copy(name), cell_text(kind),
		cell_copy(dist__tsv_title(tsv)), cell_size(tsv->num_rows),
		cell_int(calibration), cell_real(fit.median),
		cell_real(fit.p90), cell_copy(common_value(tsv, "machine")),
		cell_copy(dist__tsv_source(tsv)));
}

static struct fit fit_of(const struct collectives *read)
{
	double *errors = calloc(read->tsv.num_rows + 1, sizeof *errors);
	size_t num = errors ? baseline_errors(read, errors) : 0;
	struct fit fit = no_fit;

	dist__sort_numbers(errors, num);
	if (num > 0) {
		fit.median = 100 * dist__quantile(errors, num, 0.5);
		fit.p90 = 100 * dist__quantile(errors, num, 0.9);
	}
	free(errors);
	return fit;
}

static enum dist_error add_collectives(struct dist__rows *table,
				       const char *name, const char *path,
				       struct dist_message *message)
{
	struct collectives read;
	enum dist_error error = collectives_load(&read, path, message);

	if (!error)
		add_row(table, name, "collectives", &read.tsv, fit_of(&read));
	dist__tsv_release(&read.tsv);
	return error;
}

static enum dist_error add_steps(struct dist__rows *table, const char *name,
				 const char *path, struct dist_message *message)
{
	struct steps read;
	enum dist_error error = steps_load(&read, path, message);

	if (!error)
		add_row(table, name, "steps", &read.tsv, no_fit);
	dist__tsv_release(&read.tsv);
	return error;
}

/* A table that nothing but its form is asked of, called as its folder. */
static enum dist_error add_plain(struct dist__rows *table, const char *name,
				 const char *path, struct dist_message *message)
{
	struct tsv_table tsv;
	enum dist_error error = dist__tsv_load(&tsv, path, message);

	if (!error)
		add_row(table, name,
			strstr(path, "/hardware/") ? "hardware" : "parts", &tsv,
			no_fit);
	dist__tsv_release(&tsv);
	return error;
}

int list_measured(struct dist__rows *table)
{
	static const struct {
		const char *folder;
		list_add *add;
	} kinds[] = {
		{"measured/collectives", add_collectives},
		{"measured/steps", add_steps},
		{"measured/parts", add_plain},
		{"measured/hardware", add_plain},
	};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (list_each_file(kinds[i].folder, ".tsv", kinds[i].add,
				   table))
			status = DIST_EXIT_USAGE;
	return status;
}
