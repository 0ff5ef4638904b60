/* sweep_stamp.h - identifies all inputs of a study, so that points of other
 * inputs are not reused. */
#ifndef LOCKSTEP_CLI_SWEEP_STAMP_H
#define LOCKSTEP_CLI_SWEEP_STAMP_H

#include "cli/sweep/study.h"

/* sweep_stamp returns a text with the version of Lockstep, the study's keys and
 * values, and a checksum of each file that they name. The caller frees it; NULL
 * without memory. */
char *sweep_stamp(const struct study *study);

#endif
