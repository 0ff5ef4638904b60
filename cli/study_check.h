/* study_check.h - refusing a study before anything of it runs. */
#ifndef LOCKSTEP_CLI_STUDY_CHECK_H
#define LOCKSTEP_CLI_STUDY_CHECK_H

#include "cli/sweep/study.h"

/*
 * study_check asks `lockstep predict` whether it knows every key of the study
 * read from path, and would take every point, `jobs` processes at a time.
 * Returns OK; USAGE after a line "file:line: what was expected" on stderr; or
 * INTERNAL after a line.
 */
int study_check(const struct study *study, const char *path, int jobs);

#endif
