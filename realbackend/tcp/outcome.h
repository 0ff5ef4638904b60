/* outcome.h - what became of a job: from the ends of its processes and their
 * records to a verdict. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_OUTCOME_H
#define LOCKSTEP_TCP_OUTCOME_H

#include <stdio.h>

#include "check/record.h"
#include "realbackend/tcp/child.h"

/* dist__outcome_failed returns whether child has ended, and badly. */
bool dist__outcome_failed(const struct dist__child *child);

/* dist__outcome_follows returns whether a failed child ended for the sake of
 * another that is gone: then the other's end will be seen in a moment. */
bool dist__outcome_follows(const struct dist__child *child,
			   const struct check_board *board);

/* dist__outcome_report says on out which rank ended first and how, and the
 * verdict; returns the exit status of the job. board may be NULL. */
int dist__outcome_report(FILE *out, const struct dist__child *children,
			 int num_children, const struct check_board *board,
			 int64_t timeout_ns);

#endif
