/* rank.h - how the rank programs of this folder begin and fail. */
#ifndef LOCKSTEP_SCENARIOS_RANK_H
#define LOCKSTEP_SCENARIOS_RANK_H

#include "lockstep/dist.h"

/* rank_join makes the default group from the environment. On failure it prints
 * the reason on stderr. Errors: those of dist_init_process_group. */
DIST_MUST_CHECK enum dist_error rank_join(struct dist_group **group);

/*
 * rank_leave destroys group and returns the status of the rank function: 0 if
 * neither error nor destroying failed, else 1. what names the step of error.
 * Failures that get a verdict (deadlock, timeout, a lost rank, ...) are not
 * printed here: one verdict is better than a line from every rank.
 */
int rank_leave(struct dist_group *group, const char *what,
	       enum dist_error error);

#endif
