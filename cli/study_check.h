/* study_check.h - checks a study before any of it runs. */
#ifndef LOCKSTEP_CLI_STUDY_CHECK_H
#define LOCKSTEP_CLI_STUDY_CHECK_H

#include "cli/sweep/study.h"

/*
 * study_check checks that `lockstep predict` knows every key of the study, read
 * from path, and accepts every point, with `jobs` processes at a time. Returns
 * OK; USAGE after a line "file:line: what was expected" on stderr; or INTERNAL
 * after a line.
 */
int study_check(const struct study *study, const char *path, int jobs);

#endif
