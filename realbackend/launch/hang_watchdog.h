/*
 * hang_watchdog.h - a job whose ranks make no calls for a while: whether their
 * records prove that they never will again. The leader looks at them, and ends
 * the job if they do. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_HANG_WATCHDOG_H
#define LOCKSTEP_LAUNCH_HANG_WATCHDOG_H

#include "realbackend/launch/agent.h"
#include "realbackend/launch/status_request.h"
#include "realbackend/launch/workers.h"

struct dist__hang_watchdog {
	int64_t patience_ns; /* how long nothing must have changed; 0: nobody
				looks */
	int64_t next_ns;     /* when to look again */
	int64_t since_ns;    /* the leader's own records have been so since, */
	int64_t ask_ns;      /* and the others' are asked for after so long */
	uint64_t own;        /* digest of these, */
	uint64_t all;        /* and of all ranks' when they last were here */
};

/* dist__hang_watchdog_open reads LOCKSTEP_PATIENCE, in seconds; 5 unless it is
 * set, and none where it is 0 or cannot be read. */
void dist__hang_watchdog_open(struct dist__hang_watchdog *stall);

/* dist__hang_watchdog_deadline returns when dist__hang_watchdog_ask has
 * something to do. */
int64_t dist__hang_watchdog_deadline(const struct dist__hang_watchdog *stall,
				     const struct dist__agent *agent,
				     const struct dist__workers *workers);

/* dist__hang_watchdog_ask has the records of all ranks brought together when
 * the leader's own, one of which waits, have not changed for long enough, and
 * then more and more rarely; before dist__status_request_turn. */
void dist__hang_watchdog_ask(struct dist__hang_watchdog *stall,
			     struct dist__status_request *look,
			     struct dist__agent *agent,
			     const struct dist__workers *workers);

/* dist__hang_watchdog_judge ends the ranks when those records are here and
 * prove that they must be ended; after dist__status_request_turn. */
void dist__hang_watchdog_judge(struct dist__hang_watchdog *stall,
			       struct dist__status_request *look,
			       const struct dist__agent *agent,
			       struct dist__workers *workers);

#endif
