/* rank.h - how the rank programs of this folder begin and fail. */
#ifndef LOCKSTEP_SCENARIOS_RANK_H
#define LOCKSTEP_SCENARIOS_RANK_H

#include "lockstep/dist.h"

/* rank_join makes the default group as the environment says. On failure it
 * says why on stderr. Errors: dist_init_process_group's. */
DIST_MUST_CHECK enum dist_error rank_join(struct dist_group **group);

/*
 * rank_leave destroys group and turns what the rank program knows into the
 * status that its rank function returns: 0 when both error and the destruction
 * are fine, else 1. what names the step that error came from. Failures about
 * which the job's verdict speaks (deadlock, timeout, a lost rank, ...) pass in
 * silence here: one verdict says more than a line from every rank.
 */
int rank_leave(struct dist_group *group, const char *what,
	       enum dist_error error);

#endif
