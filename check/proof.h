/*
 * proof.h - what the records of a job that still runs prove by themselves: that
 * its ranks disagree, or that none of them can move, and nobody needs to wait
 * for a deadline to know.
 */
#ifndef LOCKSTEP_CHECK_PROOF_H
#define LOCKSTEP_CHECK_PROOF_H

#include "check/verdict.h"

/*
 * check_prove judges a board of real ranks that nobody has written for a while,
 * and on which ranks have FINISHED only if their processes are gone.
 *
 * CHECK_MISMATCH: two calls that are known to meet differ. CHECK_DEADLOCK:
 * every rank that is left waits, by the job's deadline (timeout_ns) or a later
 * one, in a call that others have to issue first and never will; where a
 * program set a shorter deadline itself, it may have plans for when it passes.
 * Else CHECK_FINE: nothing is proved, as long as bytes may flow, a rank is in
 * its own code or has an error to deal with, or its records are not here.
 */
struct check_verdict check_prove(const struct check_board *board,
				 int64_t timeout_ns);

#endif
