/*
 * stall.h - a job whose ranks make no calls for a while: whether their records
 * prove that they never will again. The leader looks at them, and ends the job
 * if they do. Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_STALL_H
#define LOCKSTEP_TCP_STALL_H

#include "realbackend/tcp/agent.h"
#include "realbackend/tcp/look.h"
#include "realbackend/tcp/workers.h"

struct dist__stall {
	int64_t patience_ns; /* how long nothing must have changed; 0: nobody
				looks */
	int64_t next_ns;     /* when to look again */
	int64_t since_ns;    /* the leader's own records have been so since, */
	int64_t ask_ns;      /* and the others' are asked for after so long */
	uint64_t own;        /* digest of these, */
	uint64_t all;        /* and of all ranks' when they last were here */
};

/* dist__stall_open reads LOCKSTEP_PATIENCE, in seconds; 5 unless it is set, and
 * none where it is 0 or cannot be read. */
void dist__stall_open(struct dist__stall *stall);

/* dist__stall_deadline returns when dist__stall_ask has something to do. */
int64_t dist__stall_deadline(const struct dist__stall *stall,
			     const struct dist__agent *agent,
			     const struct dist__workers *workers);

/* dist__stall_ask has the records of all ranks brought together when the
 * leader's own, one of which waits, have not changed for long enough, and then
 * more and more rarely; before dist__look_turn. */
void dist__stall_ask(struct dist__stall *stall, struct dist__look *look,
		     struct dist__agent *agent,
		     const struct dist__workers *workers);

/* dist__stall_judge ends the ranks when those records are here and prove that
 * they must be ended; after dist__look_turn. */
void dist__stall_judge(struct dist__stall *stall, struct dist__look *look,
		       const struct dist__agent *agent,
		       struct dist__workers *workers);

#endif
