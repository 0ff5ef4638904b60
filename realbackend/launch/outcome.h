/* outcome.h - what became of a round: from the ends of its processes and their
 * records to a cause, and to a verdict. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_OUTCOME_H
#define LOCKSTEP_LAUNCH_OUTCOME_H

#include <stdio.h>

#include "check/record.h"
#include "realbackend/launch/child.h"
#include "realbackend/launch/orders.h"

/* How things stood on a node when its ranks were ended, or had ended. */
struct dist__outcome {
	struct check_cause cause;  /* weight 0: nothing has failed here */
	struct check_board *board; /* a copy of the records; NULL: none */
	int attempt;               /* number of the round */
};

/* dist__outcome_failed returns whether child has ended, and badly. */
bool dist__outcome_failed(const struct dist__child *child);

/* dist__outcome_is_known returns whether nothing needs to be waited for to tell
 * why a failed child ended: neither another's end that it followed, nor, after
 * a mismatch or a call that was refused, that the others come to where they
 * meet it or fare alike. */
bool dist__outcome_is_known(const struct dist__child *child,
			    const struct check_board *board);

/* dist__outcome_take looks at all children of a node, and keeps their records,
 * a copy, which is the outcome's from then on. board may be NULL. */
void dist__outcome_take(struct dist__outcome *outcome,
			const struct dist__child *children, int num_children,
			struct check_board *board);

/* dist__outcome_narrow leaves of the records those of num ranks from first on;
 * where the others are is not known. */
void dist__outcome_narrow(struct dist__outcome *outcome, int first, int num);
void dist__outcome_release(struct dist__outcome *outcome);

/* dist__outcome_report says on out what went wrong, if anything did, and writes
 * it, and the ranks' dumps, where the environment asks for them; returns the
 * exit status of the job, and in culprit the first rank on which the verdict
 * turns, or -1. */
int dist__outcome_report(FILE *out, const struct dist__outcome *outcome,
			 int64_t timeout_ns, int *culprit);

/* dist__outcome_interrupted does the same for a job that a signal ended: tells
 * a mismatch or a hazard if there is one, else where the ranks were. */
void dist__outcome_interrupted(FILE *out, const struct dist__outcome *outcome,
			       int64_t timeout_ns, int signal);

/* dist__outcome_status says on out, and as JSON and dumps where these are asked
 * for, where the ranks are. */
void dist__outcome_status(FILE *out, const struct dist__outcome *outcome,
			  int64_t timeout_ns);

#endif
