#include "model/library/calibrate.h"

#include <math.h>
#include <stdio.h>

#include "model/library/model.h"

/* The constants depend on each other a little: turns of all until they stay. */
#define TURNS 12

/* Of a bisection: to 1e-9 of a range. */
#define HALVINGS 30

/* A step, of a range, that must make a difference of some size. */
#define STEP       1e-3
#define DIFFERENCE 1e-9

/* Near enough to what was measured. */
#define MET 1e-6

struct fit {
	struct dist__profile *profile;
	const struct library_sample *sample;
	struct dist_message *message;
	enum dist_error error; /* the first */
};

static double value_of(const struct fit *fit,
		       const struct library_freedom *freedom)
{
	return dist__profile_constant(fit->profile, freedom->constant,
				      freedom->usual);
}

/* Predicted over measured, as the profile is now. */
static double ratio(struct fit *fit)
{
	struct library_estimate estimate;

	if (!fit->error)
		fit->error = library_estimate(
			fit->profile, &fit->sample->fabric, &fit->sample->call,
			&estimate, fit->message);
	return fit->error ? 1
			  : library_time_ns(&estimate) / fit->sample->time_ns;
}

/* The same with a constant at value, which it keeps. */
static double ratio_at(struct fit *fit, const struct library_freedom *freedom,
		       double value)
{
	if (!fit->error)
		fit->error = dist__profile_set(fit->profile, freedom->constant,
					       value);
	return ratio(fit);
}

/* A rate that rises shortens, a latency that rises lengthens. */
static double better_end(const struct library_freedom *freedom, bool too_long)
{
	return freedom->is_rate == too_long ? freedom->most : freedom->least;
}

/*
 * Moves one constant towards the better end of its range, until the sample is
 * met or nothing changes any more. One that changes nothing from the start is
 * not what limits the call, and stays.
 */
static void move(struct fit *fit, const struct library_freedom *freedom)
{
	double from = value_of(fit, freedom), at_from = ratio(fit);
	double to = better_end(freedom, at_from > 1);
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
		double end = better_end(freedom, at_from > 1);
		double past = to + copysign(fmin(20 * step, fabs(end - to)),
					    end - to);

		(void)ratio_at(fit, freedom, past);
	}
}

/* All constants of a kind: where the call takes too long in their order, else
 * the other way round. */
static void meet(struct fit *fit, const struct library_freedom *freedoms,
		 size_t count, bool rates)
{
	bool forward = ratio(fit) > 1;

	for (size_t i = 0; i < count; i++) {
		size_t at = forward ? i : count - 1 - i;

		if (freedoms[at].is_rate == rates)
			move(fit, &freedoms[at]);
	}
}

static double miss(struct fit *fit, const struct library_sample *sample)
{
	fit->sample = sample;
	return sample ? fabs(ratio(fit) - 1) : 0;
}

static void fit_all(struct fit *fit, const struct library_freedom *freedoms,
		    size_t count, const struct library_sample *small,
		    const struct library_sample *large)
{
	for (int turn = 0; turn < TURNS && !fit->error; turn++) {
		fit->sample = large;
		if (large)
			meet(fit, freedoms, count, true);
		fit->sample = small;
		if (small)
			meet(fit, freedoms, count, false);
	}
}

bool library_is_free(const struct dist__profile *profile)
{
	const struct library_model *model = library_find(profile);

	return model && model->freedoms;
}

enum dist_error library_calibrate(struct dist__profile *profile,
				  const struct library_sample *small,
				  const struct library_sample *large,
				  struct library_calibration *calibration,
				  struct dist_message *message)
{
	const struct library_model *model = library_find(profile);
	struct fit fit = {.profile = profile, .message = message};
	double before[LIBRARY_MOST_MOVES];
	size_t count = 0;

	*calibration = (struct library_calibration){.num_moves = 0};
	if (!library_is_free(profile)) {
		snprintf(message->text, sizeof message->text,
			 "profile %s: its library has no constants that could "
			 "be calibrated",
			 profile->name);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	for (; model->freedoms[count].constant; count++)
		before[count] = value_of(&fit, &model->freedoms[count]);
	fit_all(&fit, model->freedoms, count, small, large);
	calibration->residual = fmax(miss(&fit, small), miss(&fit, large));
	for (size_t i = 0; i < count; i++) {
		double after = value_of(&fit, &model->freedoms[i]);

		if (!fit.error && after != before[i])
			calibration->moves[calibration->num_moves++] =
				(struct library_move){
					model->freedoms[i].constant, before[i],
					after};
	}
	return fit.error;
}
