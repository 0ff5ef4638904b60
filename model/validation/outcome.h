/*
 * outcome.h - a table of measured collectives, predicted row by row.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_OUTCOME_H
#define LOCKSTEP_MODEL_VALIDATION_OUTCOME_H

#include "model/validation/accuracy.h"
#include "model/validation/calibrated_model.h"
#include "model/validation/left_out.h"

/* A row of use "validation" that could be predicted. */
struct outcome_row {
	const struct collective_row *row; /* the table's */
	double predicted_us;
	double fit_us;      /* by the two-parameter fit; 0: none */
	bool is_calibrated; /* by constants of the machine itself */
	char algorithm[24], protocol[16];
};

struct outcome {
	const struct collectives *table; /* borrowed */
	struct outcome_row *rows;        /* owned */
	size_t num;
	struct left_out left_out; /* rows of use "validation" */
};

/* outcome_make predicts table from models. Errors: NO_MEMORY; *outcome is empty
 * then. */
DIST_MUST_CHECK enum dist_error outcome_make(struct outcome *outcome,
					     const struct collectives *table,
					     struct calibrated_models *models);

/* outcome_release frees what outcome holds. */
void outcome_release(struct outcome *outcome);

/*
 * outcome_accuracy returns the accuracy of the rows in a range of sizes: of
 * the prediction, or of the fit that has seen them. scratch has room for
 * outcome->num numbers.
 */
struct accuracy outcome_accuracy(const struct outcome *outcome,
				 enum accuracy_range range, bool of_fit,
				 double *scratch);

/* outcome_choices writes the predicted choices of the library in the first
 * series that is not forced: "tree LL to 64 KiB, ring Simple to 1 GiB"; ends in
 * "..." if text is too short; "" if all series are forced. */
void outcome_choices(const struct outcome *outcome, char *text, size_t size);

#endif
