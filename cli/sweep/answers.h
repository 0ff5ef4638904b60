/*
 * answers.h - what `lockstep predict` answered for each point of a study, as a
 * table.
 */
#ifndef LOCKSTEP_CLI_SWEEP_ANSWERS_H
#define LOCKSTEP_CLI_SWEEP_ANSWERS_H

#include <jansson.h>

#include "cli/sweep/study.h"
#include "base/output.h"
#include "base/rows.h"

/* Figures of an answer, beside the axes: at most. */
#define ANSWERS_FIGURES 32

struct answers {
	const struct study *study; /* borrowed */
	json_t **of;               /* by point; owned. NULL: not there yet */
	size_t num;
};

/* answers_init makes room for the points of study. Errors: NO_MEMORY. */
DIST_MUST_CHECK enum dist_error answers_init(struct answers *answers,
					     const struct study *study);

/* answers_release frees them. */
void answers_release(struct answers *answers);

/* answers_missing returns how many points have no answer. */
size_t answers_missing(const struct answers *answers);

/* answers_value returns a figure of a point by its name in predict's JSON: a
 * number or a string; NULL if there is none. */
const json_t *answers_value(const struct answers *answers, size_t point,
			    const char *name);

/* answers_number returns the same as a number; fallback where there is
 * none. */
double answers_number(const struct answers *answers, size_t point,
		      const char *name, double fallback);

/* answers_impossible returns whether a point's answer says that no device can
 * do that. */
bool answers_impossible(const struct answers *answers, size_t point);

/* answers_num_impossible returns of how many points that is so. */
size_t answers_num_impossible(const struct answers *answers);

/* answers_buckets returns the list of a point's buckets, objects of bytes and
 * algorithm; NULL if there is none. */
const json_t *answers_buckets(const struct answers *answers, size_t point);

/* answers_conditions returns what a point's answer stands on, an object of
 * words; NULL if there is none. */
const json_t *answers_conditions(const struct answers *answers, size_t point);

/*
 * answers_columns stores in names what columns a table of all points has
 * behind those of the grid: the figures that answers have, in their order.
 * Returns how many. The names live as long as answers.
 */
size_t answers_columns(const struct answers *answers,
		       const char *names[ANSWERS_FIGURES]);

/*
 * answers_write writes all points to path as TSV, a row a point in the order of
 * the grid: its number, the grid's axes, the figures, the fidelity, and which
 * algorithm averages buckets of which size. All answers must be there. Errors:
 * IO, NO_MEMORY; message says what.
 */
DIST_MUST_CHECK enum dist_error answers_write(const struct answers *answers,
					      const char *path,
					      struct dist_message *message);

/* answers_print writes the same rows to out. Returns as dist__rows_print. */
DIST_MUST_CHECK int answers_print(const struct answers *answers,
				  enum dist__form form, FILE *out);

#endif
