#include "cli/calibration.h"

#include <math.h>
#include <string.h>

#define REDUCED_BYTES 1048576 /* of the measures reduce and pair_message */

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

const struct sample *calibration_message(const struct calibration_measures *m)
{
	if (m->local)
		return &m->exchange[0];
	return m->world_size == 2 ? &m->half_trip : &m->round;
}

double calibration_spread(const struct calibration_measures *m,
			  const char **what)
{
	static const char *const exchange_names[CALIBRATION_SIZES] = {
		"exchange of 8 B",     "exchange of 16 KiB",
		"exchange of 64 KiB",  "exchange of 128 KiB",
		"exchange of 256 KiB", "exchange of 512 KiB",
		"exchange of 1 MiB",   "exchange of 2 MiB"};
	double worst = -1;
	int i;

	*what = "";
	consider(calibration_message(m), "time of a message", &worst, what);
	consider(&m->issue, "issue of a message", &worst, what);
	consider(&m->pair_message, "stream of one pair", &worst, what);
	for (i = 0; i < CALIBRATION_SIZES; i++)
		consider(&m->exchange[i], exchange_names[i], &worst, what);
	consider(&m->reduce, "local reduction", &worst, what);
	return worst;
}

double calibration_wire_Bps(const struct calibration_model *model)
{
	return fmin(model->pair_Bps, model->capacity_Bps / model->world_size);
}

/* What a message of so many bytes loads the wire with, by rates. */
static double load_bytes(const struct dist__rate *rates, size_t num,
			 size_t bytes)
{
	struct dist__profile profile = {.num_rates = num};

	memcpy(profile.rates, rates, num * sizeof *rates);
	return dist__profile_load_bytes(&profile, bytes);
}

double calibration_exchange_ns(const struct calibration_model *model,
			       size_t bytes)
{
	return model->overhead_ns + model->latency_ns +
	       load_bytes(model->rates, model->num_rates, bytes) /
		       calibration_wire_Bps(model) * 1e9;
}

/* What a byte takes while all ranks exchange so many. The smallest exchange is
 * the intercept. (It is not alpha: it holds what the calls of the public
 * interface cost, and a collective pays that once.) At least a tenth of the
 * time counts as that of the bytes, so that rates stay finite whatever was
 * measured. */
static double ns_per_byte(const struct calibration_measures *m, int i)
{
	double whole_ns = m->exchange[i].median;

	return fmax(whole_ns - m->exchange[0].median, whole_ns / 10) /
	       (double)calibration_bytes[i];
}

/* Each exchange that has two neighbours with a rate, by these. */
static double residual_of(const struct calibration_measures *m,
			  const struct calibration_model *model)
{
	int i = CALIBRATION_SIZES - (int)model->num_rates;
	const struct dist__rate *rate = model->rates;
	double worst = 0;

	for (; i + 2 < CALIBRATION_SIZES; i++, rate++) {
		struct dist__rate around[2] = {rate[0], rate[2]};
		double modelled = m->exchange[0].median +
				  load_bytes(around, 2, rate[1].bytes) *
					  m->world_size / model->capacity_Bps *
					  1e9;

		worst = fmax(worst,
			     fabs(modelled / m->exchange[i + 1].median - 1));
	}
	return worst;
}

/* Where bytes take less than half of what the intercept does, the time says too
 * little of their rate, and they have that of the next longer. The longest
 * always has one. */
static void fit_rates(const struct calibration_measures *m,
		      struct calibration_model *model)
{
	double longest = ns_per_byte(m, CALIBRATION_SIZES - 1);
	int i = 1;

	while (i < CALIBRATION_SIZES - 1 &&
	       m->exchange[i].median < 1.5 * m->exchange[0].median)
		i++;
	model->num_rates = 0;
	for (; i < CALIBRATION_SIZES; i++)
		model->rates[model->num_rates++] = (struct dist__rate){
			calibration_bytes[i], longest / ns_per_byte(m, i)};
	model->capacity_Bps = m->world_size / longest * 1e9;
}

void calibration_fit(const struct calibration_measures *m,
		     struct calibration_model *model)
{
	const struct sample *message = calibration_message(m);
	/* What disturbs a message between hosts makes it longer, never
	 * shorter. */
	double alpha_ns = m->local ? message->median : message->low_quartile;

	model->world_size = m->world_size;
	model->overhead_ns = fmin(m->issue.median, alpha_ns / 2);
	model->latency_ns = alpha_ns - model->overhead_ns;
	fit_rates(m, model);
	/* One pair alone cannot be slower than its share under load. */
	model->pair_Bps =
		load_bytes(model->rates, CALIBRATION_SIZES - 1, REDUCED_BYTES) /
		m->pair_message.median * 1e9;
	model->pair_Bps =
		fmax(model->pair_Bps, model->capacity_Bps / m->world_size);
	model->reduce_Bps = REDUCED_BYTES / m->reduce.median * 1e9;
	model->residual = residual_of(m, model);
}
