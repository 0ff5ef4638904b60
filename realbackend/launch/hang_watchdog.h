/*
 * hang_watchdog.h - finds jobs whose ranks have made no calls for a while and,
 * as their records prove, never will again. The leader checks this and ends
 * such a job. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_HANG_WATCHDOG_H
#define LOCKSTEP_LAUNCH_HANG_WATCHDOG_H

#include "realbackend/launch/agent.h"
#include "realbackend/launch/status_request.h"
#include "realbackend/launch/workers.h"

struct dist__hang_watchdog {
	int64_t patience_ns; /* time without any change; 0: no
				checks */
	int64_t next_ns;     /* time of the next check */
	int64_t since_ns;    /* last change of the leader's own records */
	int64_t ask_ns;      /* interval before all records are asked for */
	uint64_t own;        /* digest of the leader's own records, */
	uint64_t all;        /* and of all ranks' when last collected */
	bool noticed;        /* that ranks poll, since own changed */
};

/* dist__hang_watchdog_open reads LOCKSTEP_PATIENCE, in seconds. Default 5; 0,
 * or a text that cannot be read, means no checks. */
void dist__hang_watchdog_open(struct dist__hang_watchdog *watchdog);

/* dist__hang_watchdog_deadline returns when dist__hang_watchdog_ask must be
 * called. */
int64_t dist__hang_watchdog_deadline(const struct dist__hang_watchdog *watchdog,
				     const struct dist__agent *agent,
				     const struct dist__workers *workers);

/* dist__hang_watchdog_ask requests the records of all ranks when the leader's
 * own, of which one waits, have not changed for long enough; again and again,
 * at growing intervals. A rank that polls a store may have an end in mind: when
 * nothing has changed for 60 times as long, a line on stderr names it. Call it
 * before dist__status_request_turn. */
void dist__hang_watchdog_ask(struct dist__hang_watchdog *watchdog,
			     struct dist__status_request *request,
			     struct dist__agent *agent,
			     const struct dist__workers *workers);

/* dist__hang_watchdog_judge ends the ranks if those records have come and prove
 * a hang. Call it after dist__status_request_turn. */
void dist__hang_watchdog_judge(struct dist__hang_watchdog *watchdog,
			       struct dist__status_request *request,
			       const struct dist__agent *agent,
			       struct dist__workers *workers);

#endif
