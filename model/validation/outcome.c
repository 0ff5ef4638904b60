#include "model/validation/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/measured/baseline.h"
#include "model/validation/call.h"
#include "base/text.h"

/* Predicts one row, the next of outcome, or counts it as left out. */
static enum dist_error predict(struct outcome *outcome, size_t i, double fit_us,
			       struct calibrated_models *models)
{
	const struct collective_row *row = &outcome->table->rows[i];
	struct outcome_row *into = &outcome->rows[outcome->num];
	const struct library_call call = call_of_row(row);
	const struct calibrated_key key = {
		.machine = row->machine,
		.transport = row->nodes == 1 ? NULL : row->transport,
		.links = row->nodes == 1 ? row->transport : NULL,
		.library = row->library,
		.version = row->version,
	};
	struct library_estimate estimate;
	const struct calibrated_model *calibrated;
	struct dist_message why;

	if (calibrated_models_get(models, &key, &calibrated))
		return DIST_ERR_NO_MEMORY;
	if (calibrated_estimate(calibrated, row->nodes, &call, &estimate,
				&why)) {
		left_out_add(&outcome->left_out, &why);
		return DIST_OK;
	}
	into->row = row;
	into->predicted_us = library_time_ns(&estimate) / 1e3;
	into->fit_us = fit_us;
	into->is_calibrated = calibrated->calibration != NULL;
	memcpy(into->algorithm, estimate.algorithm, sizeof into->algorithm);
	memcpy(into->protocol, estimate.protocol, sizeof into->protocol);
	outcome->num++;
	return DIST_OK;
}

enum dist_error outcome_make(struct outcome *outcome,
			     const struct collectives *table,
			     struct calibrated_models *models)
{
	size_t num = table->tsv.num_rows;
	double *fits = calloc(num, sizeof *fits);
	enum dist_error error = DIST_OK;

	*outcome = (struct outcome){
		.table = table,
		.rows = calloc(num, sizeof *outcome->rows),
	};
	if (!fits || !outcome->rows)
		error = DIST_ERR_NO_MEMORY;
	else
		baseline_times(table, fits);
	for (size_t i = 0; !error && i < num; i++)
		if (table->rows[i].use == VALUE_VALIDATION)
			error = predict(outcome, i, fits[i], models);
	free(fits);
	if (error)
		outcome_release(outcome);
	return error;
}

void outcome_release(struct outcome *outcome)
{
	free(outcome->rows);
	*outcome = (struct outcome){.table = NULL};
}

struct accuracy outcome_accuracy(const struct outcome *outcome,
				 enum accuracy_range range, bool of_fit,
				 double *scratch)
{
	size_t num = 0;

	for (size_t i = 0; i < outcome->num; i++) {
		const struct outcome_row *row = &outcome->rows[i];
		double us = of_fit ? row->fit_us : row->predicted_us;

		if ((range == ACCURACY_ALL ||
		     accuracy_range_of(row->row->bytes) == range) &&
		    (!of_fit || us > 0))
			scratch[num++] =
				accuracy_error(us, row->row->time_us.value);
	}
	return accuracy_of(scratch, num);
}

/* ---- choices ---------------------------------------------------------- */

static bool same_choice(const struct outcome_row *a,
			const struct outcome_row *b)
{
	return strcmp(a->algorithm, b->algorithm) == 0 &&
	       strcmp(a->protocol, b->protocol) == 0;
}

/* Appends the choice that holds up to row, if there is room. */
static bool append(const struct outcome_row *row, char *text, size_t size)
{
	size_t used = strlen(text);
	char bytes[32], words[96];
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	double number = (double)row->row->bytes;
	size_t unit = 0;

	for (; number >= 1024 && unit < 3; unit++)
		number /= 1024;
	snprintf(bytes, sizeof bytes, "%.4g %s", number, units[unit]);
	snprintf(words, sizeof words, "%s%s%s%s to %s", used ? ", " : "",
		 row->algorithm, row->protocol[0] ? " " : "", row->protocol,
		 bytes);
	if (used + strlen(words) + sizeof(", ...") > size) {
		(void)dist__append(text, size, ", ...");
		return false;
	}
	return dist__append(text, size, "%s", words);
}

/* The first row of which the algorithm is not forced, else of which the
 * protocol is chosen; outcome->num: there is neither. */
static size_t first_chosen(const struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->num; i++)
		if (!outcome->rows[i].row->algorithm)
			return i;
	for (size_t i = 0; i < outcome->num; i++)
		if (outcome->rows[i].protocol[0])
			return i;
	return outcome->num;
}

void outcome_choices(const struct outcome *outcome, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = first_chosen(outcome); i < outcome->num; i++) {
		const struct outcome_row *row = &outcome->rows[i];
		bool last = i + 1 == outcome->num ||
			    row[1].row->bytes < row->row->bytes;

		if (!last && same_choice(row, row + 1))
			continue;
		if (!append(row, text, size) || last)
			return;
	}
}
