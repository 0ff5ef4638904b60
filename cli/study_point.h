/* study_point.h - a point of a study, as the options of `lockstep predict`. */
#ifndef LOCKSTEP_CLI_STUDY_POINT_H
#define LOCKSTEP_CLI_STUDY_POINT_H

#include "cli/predict_options.h"
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
DIST_MUST_CHECK enum dist_error study_point_read(struct study_point *result,
						 const struct study *study,
						 size_t point, bool together,
						 struct dist__refusal *refusal);

/*
 * study_of_line makes a study of the options in argv that have several values,
 * "--shard ddp,fsdp" or "--shard ddp --shard fsdp", and removes them from argv;
 * without any it has no axes. A comma within one value is none between two:
 * "fat-tree:4x2,taper=2", "--overlap grad,param". Errors: INVALID_ARGUMENT
 * (message: what is given twice, or has too many values), NO_MEMORY; in any
 * case study_release frees what *study holds.
 */
DIST_MUST_CHECK enum dist_error study_of_line(struct study *study,
					      const struct manual *manual,
					      int *argc, const char **argv,
					      struct dist_message *message);

/* study_point_set sets the values of a point in options, which are those of a
 * line without them. Errors: those of study_point_read. */
DIST_MUST_CHECK enum dist_error study_point_set(struct predict_options *options,
						const struct study *study,
						size_t point,
						struct dist__refusal *refusal);

/* study_varies_layout returns whether points differ in a degree or a choice
 * without which other options of a layout have no effect. */
bool study_varies_layout(const struct study *study);

/* study_takes returns whether any point of the study has an option called name.
 */
bool study_takes(const struct study *study, const char *name);

#endif
