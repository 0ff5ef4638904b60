/* study_point.h - a point of a study, as the options of `lockstep predict`. */
#ifndef LOCKSTEP_CLI_STUDY_POINT_H
#define LOCKSTEP_CLI_STUDY_POINT_H

#include "cli/predict.h"
#include "cli/sweep/study.h"

/* Points that differ only in this option can be predicted together. */
#define STUDY_TOGETHER "world-size"

struct study_point {
	struct predict_options options;
	char sizes[STUDY_VALUES * 256]; /* storage that options may point to */
};

/*
 * study_point_read reads the values of a point by the table of options, like a
 * command line; with `together`, all values of STUDY_TOGETHER. The result
 * borrows from study. Errors: INVALID_ARGUMENT (refusal: what was expected of
 * which key).
 */
DIST_MUST_CHECK enum dist_error
study_point_read(struct study_point *result, const struct study *study,
		 size_t point, bool together,
		 struct prediction_refusal *refusal);

/* study_takes returns whether any point of the study has an option called name.
 */
bool study_takes(const struct study *study, const char *name);

#endif
