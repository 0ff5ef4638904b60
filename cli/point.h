/* point.h - a point of a study as a command line of `lockstep predict`: its
 * answer is what that command answers. */
#ifndef LOCKSTEP_CLI_POINT_H
#define LOCKSTEP_CLI_POINT_H

#include "study/study.h"

/* A command line that is being made. */
struct point_command {
	const char *argv[STUDY_AXES + 4];
	int argc;
	char words[STUDY_AXES][512]; /* what argv points at */
};

/*
 * point_command_init makes `lockstep predict EXTRA --axis=value ...` for a
 * point. Of an axis called `together` (NULL: of none) it takes all values,
 * separated by commas. extra is borrowed.
 */
void point_command_init(struct point_command *command,
			const struct study *study, size_t point,
			const char *extra, const char *together);

/* point_answer is the work of a child: it predicts the point and writes the
 * JSON answer to pipe. Returns predict's exit status. */
int point_answer(const struct study *study, size_t point, int pipe);

#endif
