/* places.h - the first collective about which ranks disagree. Private to
 * check/recorder/. */
#ifndef LOCKSTEP_CHECK_RECORDER_PLACES_H
#define LOCKSTEP_CHECK_RECORDER_PLACES_H

#include "check/recorder/job.h"

/*
 * check_places_cut finds the earliest disagreement among all calls of a job
 * whose limits include all calls, and reduces the limits to the calls before
 * it: the later ones follow from it. False: no memory.
 */
bool check_places_cut(struct job *job);

#endif
