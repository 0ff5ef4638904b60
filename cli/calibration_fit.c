#include "cli/calibration.h"

#include <math.h>

#define REDUCED_BYTES 1048576.0 /* of the measures reduce and pair_message */

static double spread_of(const struct sample *s)
{
	return s->median > 0 ? (s->high_quartile - s->low_quartile) / s->median
			     : 0;
}

static void consider(const struct sample *s, const char *name, double *worst,
		     const char **what)
{
	if (spread_of(s) <= *worst)
		return;
	*worst = spread_of(s);
	*what = name;
}

double calibration_spread(const struct calibration_measures *m,
			  const char **what)
{
	static const char *const exchange_names[CALIBRATION_SIZES] = {
		"exchange of 8 B",     "exchange of 16 KiB",
		"exchange of 128 KiB", "exchange of 1 MiB",
		"exchange of 4 MiB",   "exchange of 8 MiB"};
	double worst = -1;
	int i;

	*what = "";
	consider(&m->half_trip, "half round trip", &worst, what);
	consider(&m->round, "round of a barrier", &worst, what);
	consider(&m->issue, "issue of a message", &worst, what);
	consider(&m->pair_message, "stream of one pair", &worst, what);
	for (i = 0; i < CALIBRATION_SIZES; i++)
		consider(&m->exchange[i], exchange_names[i], &worst, what);
	consider(&m->reduce, "local reduction", &worst, what);
	return worst;
}

double calibration_exchange_ns(const struct calibration_model *model,
			       size_t bytes)
{
	double Bps =
		fmin(model->pair_Bps, model->capacity_Bps / model->world_size);

	return model->overhead_ns + model->latency_ns +
	       (double)bytes / Bps * 1e9;
}

/*
 * Half the derivative of sum(log((a + m b) / t)^2) over b, the time that a byte
 * takes while all ranks send: negative below the best b, positive above. The
 * sum is over the exchanges but the smallest, which is the intercept a. (It is
 * not alpha: it holds what the calls of the public interface cost, and a
 * collective pays that once.)
 */
static double slope_of_misfit(const struct calibration_measures *m, double b)
{
	double a = m->exchange[0].median, slope = 0;
	int i;

	for (i = 1; i < CALIBRATION_SIZES; i++) {
		double bytes = (double)calibration_bytes[i];
		double modelled = a + bytes * b;

		slope += log(modelled / m->exchange[i].median) * bytes /
			 modelled;
	}
	return slope;
}

/*
 * Least squares of the logarithm of modelled by measured, by bisection: twice
 * too long and twice too short are errors of the same size. At least a
 * hundredth of the largest message's time counts as that of its bytes, so that
 * the capacity stays finite whatever was measured.
 */
static double fit_ns_per_byte(const struct calibration_measures *m)
{
	int i, last = CALIBRATION_SIZES - 1;
	double high = 0, low = m->exchange[last].median /
			       (double)calibration_bytes[last] / 100;

	for (i = 0; i < CALIBRATION_SIZES; i++)
		high = fmax(high, m->exchange[i].median /
					  (double)calibration_bytes[i]);
	for (i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (slope_of_misfit(m, middle) < 0)
			low = middle;
		else
			high = middle;
	}
	return high;
}

void calibration_fit(const struct calibration_measures *m,
		     struct calibration_model *model)
{
	double alpha_ns = m->round.median;
	double pair_ns = m->pair_message.median;
	double ns_per_byte = fit_ns_per_byte(m);
	int i;

	model->world_size = m->world_size;
	model->overhead_ns = fmin(m->issue.median, alpha_ns / 2);
	model->latency_ns = alpha_ns - model->overhead_ns;
	model->pair_Bps = REDUCED_BYTES / pair_ns * 1e9;
	model->capacity_Bps = m->world_size / ns_per_byte * 1e9;
	/* One pair alone cannot be slower than its share under load. */
	model->pair_Bps =
		fmax(model->pair_Bps, model->capacity_Bps / m->world_size);
	model->reduce_Bps = REDUCED_BYTES / m->reduce.median * 1e9;
	model->residual = 0;
	for (i = 1; i < CALIBRATION_SIZES; i++)
		model->residual =
			fmax(model->residual,
			     fabs(calibration_exchange_ns(
					  model, calibration_bytes[i]) /
					  m->exchange[i].median -
				  1));
}
