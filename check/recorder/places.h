/* places.h - the first collective about which ranks disagree. Private to
 * check/recorder/. */
#ifndef LOCKSTEP_CHECK_RECORDER_PLACES_H
#define LOCKSTEP_CHECK_RECORDER_PLACES_H

#include "check/recorder/job.h"

/*
 * check_places_cut finds the disagreement that came to be first among all calls
 * of a job of which limits has all, and takes what its ranks called after it
 * off limits: that followed from it. False: no memory.
 */
bool check_places_cut(struct job *job);

#endif
