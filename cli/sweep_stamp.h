/* sweep_stamp.h - what the answers of a study follow from, so that points which
 * followed from something else are not taken for its own. */
#ifndef LOCKSTEP_CLI_SWEEP_STAMP_H
#define LOCKSTEP_CLI_SWEEP_STAMP_H

#include "cli/sweep/study.h"

/* sweep_stamp returns the version of Lockstep, the study's keys and values, and
 * a checksum of each file that they name, as a text that the caller frees; NULL
 * without memory. */
char *sweep_stamp(const struct study *study);

#endif
