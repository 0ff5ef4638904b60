/*
 * proof.h - what the records of a running job prove: that its ranks disagree,
 * or that none can move, so that it need not wait for a deadline.
 */
#ifndef LOCKSTEP_CHECK_PROOF_H
#define LOCKSTEP_CHECK_PROOF_H

#include "check/verdict.h"

/* How the ranks' calls end. */
struct check_rules {
	int64_t timeout_ns; /* the job's deadline of a call */
	bool agreed;        /* the members of a group, and both ends of a
			       message, agree before a call moves anything: no
			       call ends before all have issued it */
	bool alone;         /* no rank has threads of its program's own */
};

/*
 * check_prove judges a board of real ranks that did not change for a while.
 * Ranks on it are FINISHED only if their processes have ended.
 *
 * CHECK_MISMATCH: two calls that certainly meet differ. CHECK_DEADLOCK: every
 * remaining rank waits, until the job's deadline or a later one, in a call that
 * other ranks must issue first and never will, or, if the ranks are alone, for
 * a key that only they could set. A rank with a shorter deadline may go on
 * after it. CHECK_FINE: nothing is proved, because bytes may flow, a rank is in
 * its own code or handles an error, or its records are not here.
 */
struct check_verdict check_prove(const struct check_board *board,
				 const struct check_rules *rules);

#endif
