/*
 * answers.h - the answers of `lockstep predict` for the points of a study, as a
 * table.
 */
#ifndef LOCKSTEP_CLI_SWEEP_ANSWERS_H
#define LOCKSTEP_CLI_SWEEP_ANSWERS_H

#include <jansson.h>

#include "cli/sweep/study.h"
#include "base/output.h"
#include "base/rows.h"

/* The most figures of an answer, without the axes. */
#define ANSWERS_FIGURES 32

struct answers {
	const struct study *study; /* borrowed */
	json_t **of;               /* by point; owned. NULL: missing */
	size_t num;
};

/* answers_init makes room for the points of study. Errors: NO_MEMORY. */
DIST_MUST_CHECK enum dist_error answers_init(struct answers *answers,
					     const struct study *study);

/* answers_release frees them. */
void answers_release(struct answers *answers);

/* answers_missing returns the number of points without an answer. */
size_t answers_missing(const struct answers *answers);

/* answers_value returns a figure of a point, a number or a string, by its name
 * in predict's JSON; NULL: none. */
const json_t *answers_value(const struct answers *answers, size_t point,
			    const char *name);

/* answers_number returns the same as a number; fallback if there is none. */
double answers_number(const struct answers *answers, size_t point,
		      const char *name, double fallback);

/* answers_impossible returns whether a point's answer is impossible on its
 * device. */
bool answers_impossible(const struct answers *answers, size_t point);

/* answers_num_impossible returns the number of such points. */
size_t answers_num_impossible(const struct answers *answers);

/* answers_buckets returns the list of a point's buckets, objects of bytes and
 * algorithm; NULL if there is none. */
const json_t *answers_buckets(const struct answers *answers, size_t point);

/* answers_conditions returns the conditions of a point's answer, an object of
 * texts; NULL: none. */
const json_t *answers_conditions(const struct answers *answers, size_t point);

/*
 * answers_columns stores in names the columns of a table of all points after
 * those of the grid: the figures of the answers, in their order. Returns their
 * number. The names live as long as answers.
 */
size_t answers_columns(const struct answers *answers,
		       const char *names[ANSWERS_FIGURES]);

/*
 * answers_write writes all points to path as TSV, a row a point in the order of
 * the grid: its number, the grid's axes, the figures, the fidelity, and the
 * algorithm of each size of bucket. No answer may be missing. Errors: IO,
 * NO_MEMORY, with message.
 */
DIST_MUST_CHECK enum dist_error answers_write(const struct answers *answers,
					      const char *path,
					      struct dist_message *message);

/* answers_print writes the same rows to out. Returns as dist__rows_print. */
DIST_MUST_CHECK int answers_print(const struct answers *answers,
				  enum dist__form form, FILE *out);

#endif
