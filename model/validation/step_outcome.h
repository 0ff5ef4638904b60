/*
 * step_outcome.h - a table of measured training steps, predicted row by row.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_STEP_OUTCOME_H
#define LOCKSTEP_MODEL_VALIDATION_STEP_OUTCOME_H

#include "model/measured/steps.h"
#include "model/validation/accuracy.h"
#include "model/validation/calibrated_model.h"
#include "model/validation/left_out.h"
#include "model/training/schedule.h"
#include "model/training/stream.h"

/* A row of use "validation" that could be predicted. */
struct step_outcome_row {
	const struct step_row *row; /* the table's */
	enum stream_schedule schedule;
	double predicted_ms, measured_ms;
	double doubling_ms; /* the time that a doubling of 1 would add */
};

struct step_outcome {
	const struct steps *table;     /* borrowed */
	struct step_outcome_row *rows; /* owned */
	size_t num;
	struct left_out left_out; /* rows of use "validation" */
};

/* Pairs of schedules in the same place whose rates differ by more than two
 * standard deviations. */
struct step_order {
	size_t pairs;
	size_t right; /* whose faster one is predicted to be faster */
};

/*
 * step_outcome_make predicts table: computing time from the table's one-GPU
 * rows for calibration, the rest from models and job, the overhead of each GPU.
 * Errors: NO_MEMORY; *outcome is empty then.
 */
DIST_MUST_CHECK enum dist_error
step_outcome_make(struct step_outcome *outcome, const struct steps *table,
		  struct calibrated_models *models,
		  const struct schedule_job *job);

/* step_outcome_doubling returns the doubling of schedule_job, a multiple of
 * 0.001, with the smallest sum of median errors over these tables, which were
 * predicted without one. scratch has room for the rows of each. */
double step_outcome_doubling(const struct step_outcome *const *outcomes,
			     size_t num, double *scratch);

/* step_outcome_error returns the median error of such a table with a doubling.
 */
double step_outcome_error(const struct step_outcome *outcome, double doubling,
			  double *scratch);

/* step_outcome_release frees what outcome holds. */
void step_outcome_release(struct step_outcome *outcome);

/* step_outcome_accuracy returns the accuracy of the rows of one schedule.
 * scratch has room for outcome->num numbers. */
struct accuracy step_outcome_accuracy(const struct step_outcome *outcome,
				      enum stream_schedule schedule,
				      double *scratch);

/* step_outcome_order counts the pairs of outcome. */
struct step_order step_outcome_order(const struct step_outcome *outcome);

#endif
