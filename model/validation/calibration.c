#include "model/validation/calibration.h"

#include <string.h>

#include "model/validation/call.h"

/* The rows that are given away: of the smallest and of the largest size. */
struct given {
	const struct collective_row *least, *most; /* NULL: there is none */
};

static bool is_of(const struct calibrated_model *calibrated,
		  const struct collective_row *row)
{
	const struct calibrated_key *key = &calibrated->key;

	if (row->use != VALUE_CALIBRATION ||
	    strcmp(row->machine, key->machine) != 0 ||
	    strcmp(row->library, key->library) != 0)
		return false;
	return key->transport ? row->nodes != 1 && strcmp(row->transport,
							  key->transport) == 0
			      : row->nodes == 1;
}

/* The model's word on a row, before calibration. */
static enum dist_error estimate_row(const struct calibrated_model *calibrated,
				    const struct collective_row *row,
				    struct library_estimate *estimate)
{
	const struct library_call call = call_of_row(row);
	struct dist_message ignored;
	struct fabric fabric;
	bool guessed;

	if (calibrated_fabric(calibrated, row->nodes, &call, &fabric, &guessed,
			      &ignored))
		return DIST_ERR_INVALID_ARGUMENT;
	return library_estimate(&calibrated->profile, &fabric, &call, estimate,
				&ignored);
}

/* Those among them that the model has a word on. */
static struct given find_given(struct calibrated_model *calibrated,
			       const struct calibrated_models *models)
{
	struct given given = {NULL, NULL};

	for (size_t t = 0; t < models->num_tables; t++) {
		const struct collectives *table = models->tables[t];

		for (size_t i = 0; i < table->tsv.num_rows; i++) {
			const struct collective_row *row = &table->rows[i];
			struct library_estimate ignored;

			if (!is_of(calibrated, row) ||
			    estimate_row(calibrated, row, &ignored))
				continue;
			if (!given.least || row->bytes < given.least->bytes)
				given.least = row;
			if (!given.most || row->bytes > given.most->bytes)
				given.most = row;
			calibrated->num_samples++;
		}
	}
	return given;
}

/* The fixed times of an estimate, and what was measured. */
static double fixed_ns(const struct library_estimate *estimate)
{
	return estimate->start_ns + estimate->latency_ns;
}

static double measured_ns(const struct collective_row *row)
{
	return row->time_us.value * 1e3;
}

/*
 * Of a library without constants to move, the times are scaled. Small calls
 * tell the fixed times, large ones the rate. Of one size alone the rate; of two
 * the pair of scales that meets both, if both are positive.
 */
static void scale(struct calibrated_model *calibrated,
		  const struct given *given)
{
	struct library_estimate least, most;
	double det, fixed, transfer;

	if (estimate_row(calibrated, given->least, &least) ||
	    estimate_row(calibrated, given->most, &most))
		return;
	transfer =
		(measured_ns(given->most) - fixed_ns(&most)) / most.transfer_ns;
	if (transfer > 0)
		calibrated->transfer_scale = transfer;
	det = fixed_ns(&least) * most.transfer_ns -
	      fixed_ns(&most) * least.transfer_ns;
	if (given->least->bytes == given->most->bytes || det == 0)
		return;
	fixed = (measured_ns(given->least) * most.transfer_ns -
		 measured_ns(given->most) * least.transfer_ns) /
		det;
	transfer = (fixed_ns(&least) * measured_ns(given->most) -
		    fixed_ns(&most) * measured_ns(given->least)) /
		   det;
	if (fixed > 0 && transfer > 0) {
		calibrated->fixed_scale = fixed;
		calibrated->transfer_scale = transfer;
	}
}

/* The row as a call of the model's; it has a word on it. */
static struct library_sample
sample_of(const struct calibrated_model *calibrated,
	  const struct collective_row *row)
{
	struct library_sample sample = {.call = call_of_row(row),
					.time_ns = measured_ns(row)};
	struct dist_message ignored;
	bool guessed;

	if (calibrated_fabric(calibrated, row->nodes, &sample.call,
			      &sample.fabric, &guessed, &ignored))
		sample.time_ns = 0;
	return sample;
}

void calibration_take(struct calibrated_model *calibrated,
		      const struct calibrated_models *models)
{
	const struct given given = find_given(calibrated, models);
	struct library_sample small, large;
	struct dist_message ignored;

	if (!given.most)
		return;
	if (!library_is_free(&calibrated->profile)) {
		scale(calibrated, &given);
		return;
	}
	small = sample_of(calibrated, given.least);
	large = sample_of(calibrated, given.most);
	if (library_calibrate(
		    &calibrated->profile,
		    given.least->bytes <= LIBRARY_SMALL_BYTES ? &small : NULL,
		    given.most->bytes > LIBRARY_SMALL_BYTES ? &large : NULL,
		    &calibrated->calibration, &ignored))
		calibrated->refusal = ignored;
}
