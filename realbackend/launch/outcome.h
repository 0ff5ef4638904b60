/* outcome.h - the outcome of a round: finds a cause and a verdict from the ends
 * of its processes and their records. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_OUTCOME_H
#define LOCKSTEP_LAUNCH_OUTCOME_H

#include <stdio.h>

#include "check/record.h"
#include "realbackend/launch/child.h"
#include "realbackend/launch/orders.h"

/* The state of a node when its ranks were ended, or had ended. */
struct dist__outcome {
	struct check_cause cause;  /* weight 0: no failure here */
	struct check_board *board; /* a copy of the records; NULL: none. With
				      own_job, the cause is none of its ranks,
				      but the process that started them */
	int attempt;               /* number of the round */
};

/* dist__outcome_failed returns whether child has failed. */
bool dist__outcome_failed(const struct dist__child *child);

/* dist__outcome_is_known returns whether the reason of a failed child is known
 * without further waiting: it did not fail because of another one's end, nor,
 * after a mismatch or a refused call, may other ranks still come to the same
 * call or fail alike. */
bool dist__outcome_is_known(const struct dist__child *child,
			    const struct check_board *board);

/* dist__outcome_has_records returns whether the records say anything. If not,
 * the program may have started ranks of its own. */
bool dist__outcome_has_records(const struct check_board *board);

/* dist__outcome_take examines all children of a node, and takes ownership of
 * board, a copy of their records, and of own, that of the ranks which the
 * program started itself, and which counts where the children have no records.
 * Both may be NULL. */
void dist__outcome_take(struct dist__outcome *outcome,
			const struct dist__child *children, int num_children,
			struct check_board *board, struct check_board *own);

/* dist__outcome_narrow keeps only the records of num ranks from first on; the
 * others become unknown. */
void dist__outcome_narrow(struct dist__outcome *outcome, int first, int num);
void dist__outcome_release(struct dist__outcome *outcome);

/* dist__outcome_report prints to out what went wrong, if anything, and writes
 * the outputs and dumps that the environment asks for. Returns the exit status
 * of the job; *culprit is the first rank at fault in the verdict, or -1. */
int dist__outcome_report(FILE *out, const struct dist__outcome *outcome,
			 int64_t timeout_ns, int *culprit);

/* dist__outcome_interrupted does the same for a job that a signal ended: a
 * mismatch or a hazard if there is one, else where the ranks were. */
void dist__outcome_interrupted(FILE *out, const struct dist__outcome *outcome,
			       int64_t timeout_ns, int signal);

/* dist__outcome_status prints to out, and writes as JSON and dumps if the
 * environment asks for them, where the ranks are. */
void dist__outcome_status(FILE *out, const struct dist__outcome *outcome,
			  int64_t timeout_ns);

#endif
