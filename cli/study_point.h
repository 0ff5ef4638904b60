/* study_point.h - a point of a study, as the options of `lockstep predict`. */
#ifndef LOCKSTEP_CLI_STUDY_POINT_H
#define LOCKSTEP_CLI_STUDY_POINT_H

#include "cli/predict.h"
#include "cli/sweep/study.h"

/* Points that differ only in it can be asked about together. */
#define STUDY_TOGETHER "world-size"

struct study_point {
	struct predict_options options;
	char sizes[STUDY_VALUES * 256]; /* what options may point at */
};

/*
 * study_point_read reads the study's values for a point by the options' table,
 * as a command line would be; with `together` all values of STUDY_TOGETHER.
 * What it holds is borrowed from study. Errors: INVALID_ARGUMENT (refusal says
 * what was expected of which key).
 */
DIST_MUST_CHECK enum dist_error
study_point_read(struct study_point *result, const struct study *study,
		 size_t point, bool together,
		 struct prediction_refusal *refusal);

/* study_takes returns whether the options of some point have that name. */
bool study_takes(const struct study *study, const char *name);

#endif
