/*
 * status_request.h - a user asks a launcher where the ranks of all nodes are
 * (SIGUSR1). Every agent stores the current records of its ranks, and the
 * leader reports them. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_STATUS_REQUEST_H
#define LOCKSTEP_LAUNCH_STATUS_REQUEST_H

#include "realbackend/launch/agent.h"
#include "realbackend/launch/workers.h"

/* Zeroed: no requests. */
struct dist__status_request {
	int64_t asked;    /* number of requests known to this agent */
	int64_t answered; /* number answered by this agent */
	bool here;        /* one came to this agent: print the stacks of its
			     Python ranks */
	/* Of the leader: */
	int64_t quiet;  /* number made for the leader itself */
	bool aloud;     /* another one was made: report to stderr */
	int64_t due_ns; /* when to report at the latest; 0: reported */
	struct check_board *found; /* by a quiet request; NULL: none new */
};

/* dist__status_request_ask asks all agents of the job. */
void dist__status_request_ask(struct dist__status_request *request,
			      struct dist__agent *agent);

/* dist__status_request_ask_quietly asks all, for the leader alone. */
void dist__status_request_ask_quietly(struct dist__status_request *request,
				      struct dist__agent *agent);

/* dist__status_request_found returns the records that a quiet request found,
 * once; the caller frees them. NULL: none, or not of all ranks. */
struct check_board *
dist__status_request_found(struct dist__status_request *request);

/* dist__status_request_turn answers and reports requests; call it after each
 * exchange. */
void dist__status_request_turn(struct dist__status_request *request,
			       struct dist__agent *agent,
			       const struct dist__workers *workers);

#endif
