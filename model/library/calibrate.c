#include "model/library/calibrate.h"

#include <math.h>
#include <stdio.h>
#include "model/library/model.h"

/* The constants depend on each other a little: turns of all until they stay. */
#define TURNS 12

/* Of a bisection: as far as numbers go. */
#define HALVINGS 60

/* A step, of a range, that must make a difference of some size. */
#define STEP       1e-3
#define DIFFERENCE 1e-12

/* A guess of a rate may be so far off. */
#define GUESS_TIMES 20

/* Near enough to what was measured. */
#define MET 1e-10

/* Of a bound: as far as a bisection comes. */
#define NEAR 1e-6

struct fit {
	const struct dist__profile *profile;
	struct calibration *calibration;
	const struct library_sample *sample;
	struct dist_message *message;
	enum dist_error error; /* the first */
};

static double value_of(const struct fit *fit,
		       const struct library_freedom *freedom)
{
	const struct calibration_constant *known = library_calibration_constant(
		fit->calibration, freedom->constant);
	double usual = freedom->usual;

	if (known)
		return known->value;
	if (freedom->usual_of)
		usual = freedom->usual_of(fit->profile, &fit->sample->fabric);
	return dist__profile_constant(fit->profile, freedom->constant, usual);
}

/* Predicted over measured, as the constants are now. */
static double ratio(struct fit *fit)
{
	struct fabric fabric = fit->sample->fabric;
	struct library_estimate estimate;

	fabric.calibrations = fit->calibration;
	fabric.num_calibrations = 1;
	if (!fit->error)
		fit->error = library_estimate(fit->profile, &fabric,
					      &fit->sample->call, &estimate,
					      fit->message);
	return fit->error ? 1
			  : library_time_ns(&estimate) / fit->sample->time_ns;
}

/* The same with a constant at value, which it keeps. */
static double ratio_at(struct fit *fit, const struct library_freedom *freedom,
		       double value)
{
	(void)library_calibration_set(fit->calibration, freedom->constant,
				      value);
	return ratio(fit);
}

/* Where nobody knows the rate there is nothing to reach. */
static double most_of(const struct fit *fit,
		      const struct library_freedom *freedom)
{
	return freedom->is_rate && fit->sample->fabric.guessed
		       ? GUESS_TIMES * freedom->most
		       : freedom->most;
}

/* A rate that rises shortens, a latency that rises lengthens. */
static double better_end(const struct fit *fit,
			 const struct library_freedom *freedom, bool too_long)
{
	return freedom->is_rate == too_long ? most_of(fit, freedom)
					    : freedom->least;
}

/*
 * Moves one constant towards the better end of its range, until the sample is
 * met or nothing changes any more. One that changes nothing from the start is
 * not what limits the call, and stays.
 */
static void move(struct fit *fit, const struct library_freedom *freedom)
{
	double from = value_of(fit, freedom), at_from = ratio(fit);
	double to = better_end(fit, freedom, at_from > 1);
	double step = STEP * (freedom->most - freedom->least);
	double aim;

	if (fabs(at_from - 1) < MET)
		return;
	if (fabs(to - from) < step)
		step = fabs(to - from);
	if (fabs(ratio_at(fit, freedom, from + copysign(step, to - from)) -
		 at_from) < DIFFERENCE) {
		(void)ratio_at(fit, freedom, from);
		return;
	}
	aim = ratio_at(fit, freedom, to);
	aim = at_from > 1 ? fmax(1, aim + DIFFERENCE)
			  : fmin(1, aim - DIFFERENCE);
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (from + to) / 2;
		bool short_of =
			(ratio_at(fit, freedom, middle) > aim) == (at_from > 1);

		if (short_of)
			from = middle;
		else
			to = middle;
	}
	/* Past the point where something else begins to limit, so that this
	 * can be moved in its turn. */
	if (fabs(aim - 1) > DIFFERENCE) {
		double end = better_end(fit, freedom, at_from > 1);
		double past = to + copysign(fmin(20 * step, fabs(end - to)),
					    end - to);

		(void)ratio_at(fit, freedom, past);
	}
}

/* All constants of a kind: where the call takes too long in their order, else
 * the other way round. */
static void meet(struct fit *fit, const struct library_freedom *freedoms,
		 size_t count, const bool *given, bool rates)
{
	bool forward = ratio(fit) > 1;

	for (size_t i = 0; i < count; i++) {
		size_t at = forward ? i : count - 1 - i;

		if (freedoms[at].is_rate == rates && !given[at])
			move(fit, &freedoms[at]);
	}
}

static double miss(struct fit *fit, const struct library_sample *sample)
{
	fit->sample = sample;
	return sample ? fabs(ratio(fit) - 1) : 0;
}

/* Drops what stayed where it was, and looks at bounds. */
static void tidy(struct fit *fit, const struct library_freedom *freedoms,
		 size_t count, const double *before, const bool *given)
{
	struct calibration *c = fit->calibration;

	for (size_t i = 0; i < count; i++) {
		struct calibration_constant *now =
			library_calibration_constant(c, freedoms[i].constant);

		if (!now || given[i])
			continue;
		if (now->value == before[i]) {
			*now = c->constants[--c->num_constants];
			continue;
		}
		now->is_at_bound =
			now->value <= freedoms[i].least * (1 + NEAR) ||
			now->value >= most_of(fit, &freedoms[i]) * (1 - NEAR);
	}
}

enum dist_error library_calibrate(const struct dist__profile *profile,
				  const struct library_sample *small,
				  const struct library_sample *large,
				  struct calibration *calibration,
				  struct dist_message *message)
{
	const struct library_model *model = library_find(profile);
	const struct library_freedom *freedoms = model && model->freedoms
							 ? model->freedoms
							 : library_any_freedoms;
	struct fit fit = {.profile = profile,
			  .calibration = calibration,
			  .sample = large ? large : small,
			  .message = message};
	double before[CALIBRATION_CONSTANTS];
	bool given[CALIBRATION_CONSTANTS];
	size_t count = 0;

	snprintf(calibration->library, sizeof calibration->library, "%s",
		 library_name(profile));
	snprintf(calibration->transport, sizeof calibration->transport, "%s",
		 fit.sample->fabric.nodes > 1 ? fit.sample->fabric.transport
					      : "");
	for (; freedoms[count].constant; count++) {
		const struct calibration_constant *known =
			library_calibration_constant(calibration,
						     freedoms[count].constant);

		given[count] = known && known->is_given;
		before[count] = value_of(&fit, &freedoms[count]);
	}
	for (int turn = 0; turn < TURNS && !fit.error; turn++) {
		fit.sample = large;
		if (large)
			meet(&fit, freedoms, count, given, true);
		fit.sample = small;
		if (small)
			meet(&fit, freedoms, count, given, false);
	}
	calibration->residual = fmax(miss(&fit, small), miss(&fit, large));
	fit.sample = large ? large : small;
	tidy(&fit, freedoms, count, before, given);
	return fit.error;
}
