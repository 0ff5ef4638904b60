#include "model/measured/baseline.h"

#include <math.h>
#include <stdint.h>

#include "base/text.h"

static bool same_series(const struct collective_row *a,
			const struct collective_row *b)
{
	return a->collective == b->collective && a->nodes == b->nodes &&
	       a->ranks == b->ranks &&
	       dist__same_text(a->algorithm, b->algorithm) &&
	       dist__same_text(a->protocol, b->protocol) &&
	       dist__same_text(a->transport, b->transport) &&
	       dist__same_text(a->memory, b->memory) &&
	       dist__same_text(a->library, b->library) &&
	       dist__same_text(a->version, b->version) &&
	       dist__same_text(a->machine, b->machine) &&
	       dist__same_text(a->dtype, b->dtype);
}

/* Whether a row counts in the fit of the series that another is of. */
static bool counts(const struct collectives *table, size_t of, size_t row)
{
	return table->rows[row].use != VALUE_NEITHER &&
	       same_series(&table->rows[of], &table->rows[row]);
}

/*
 * The squares of alpha u + beta v - 1, with u = 1 / time and v = bytes / time,
 * summed over the rows of a series, are a quadratic in alpha and beta: these
 * are its coefficients.
 */
struct sums {
	double uu, uv, vv, u, v;
};

static struct sums sums_of(const struct collectives *table, size_t row)
{
	struct sums sums = {0};

	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct collective_row *other = &table->rows[i];
		double u = 1 / other->time_us.value;
		double v = (double)other->bytes * u;

		if (!counts(table, row, i))
			continue;
		sums.uu += u * u;
		sums.uv += u * v;
		sums.vv += v * v;
		sums.u += u;
		sums.v += v;
	}
	return sums;
}

/* Of two sizes or more, up to rounding: the quadratic has one lowest point. */
static bool is_definite(const struct sums *sums)
{
	return sums->uu * sums->vv - sums->uv * sums->uv >
	       1e-12 * sums->uu * sums->vv;
}

struct baseline baseline_fit(const struct collectives *table, size_t row)
{
	struct sums sums = sums_of(table, row);
	double det = sums.uu * sums.vv - sums.uv * sums.uv;
	struct baseline fit = {0};

	/*
	 * The lowest point where neither number is negative. Where it has alpha
	 * alone or beta alone, the sum of squares falls short of the number of
	 * rows by u^2 / uu or v^2 / vv.
	 */
	if (sums.uu == 0)
		return fit;
	if (is_definite(&sums)) {
		fit.alpha_us = (sums.u * sums.vv - sums.v * sums.uv) / det;
		fit.us_per_byte = (sums.v * sums.uu - sums.u * sums.uv) / det;
		if (fit.alpha_us >= 0 && fit.us_per_byte >= 0)
			return fit;
	}
	if (sums.vv > 0 &&
	    sums.v * sums.v / sums.vv > sums.u * sums.u / sums.uu)
		return (struct baseline){0, sums.v / sums.vv};
	return (struct baseline){sums.u / sums.uu, 0};
}

/* Whether no row before this one is of its series. */
static bool is_first(const struct collectives *table, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (same_series(&table->rows[i], &table->rows[row]))
			return false;
	return true;
}

/* Fewer sizes are met exactly, which says nothing. */
static bool has_three_sizes(const struct collectives *table, size_t row)
{
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct collective_row *other = &table->rows[i];

		if (!counts(table, row, i))
			continue;
		least = other->bytes < least ? other->bytes : least;
		most = other->bytes > most ? other->bytes : most;
	}
	for (size_t i = 0; i < table->tsv.num_rows; i++)
		if (counts(table, row, i) && table->rows[i].bytes != least &&
		    table->rows[i].bytes != most)
			return true;
	return false;
}

void baseline_times(const struct collectives *table, double *times_us)
{
	for (size_t i = 0; i < table->tsv.num_rows; i++)
		times_us[i] = 0;
	for (size_t first = 0; first < table->tsv.num_rows; first++) {
		struct baseline fit;

		if (!is_first(table, first) || !has_three_sizes(table, first))
			continue;
		fit = baseline_fit(table, first);
		for (size_t i = first; i < table->tsv.num_rows; i++)
			if (same_series(&table->rows[first], &table->rows[i]))
				times_us[i] =
					fit.alpha_us +
					fit.us_per_byte *
						(double)table->rows[i].bytes;
	}
}

size_t baseline_errors(const struct collectives *table, double *errors)
{
	size_t num = 0;

	baseline_times(table, errors);
	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct collective_row *row = &table->rows[i];

		if (row->use == VALUE_VALIDATION && errors[i] > 0)
			errors[num++] =
				fabs(errors[i] / row->time_us.value - 1);
	}
	return num;
}
