/*
 * status_request.h - somebody asks a launcher where the ranks of all nodes are
 * (SIGUSR1). Every agent leaves the records of its ranks as they are then, and
 * the leader reports them. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_STATUS_REQUEST_H
#define LOCKSTEP_LAUNCH_STATUS_REQUEST_H

#include "realbackend/launch/agent.h"
#include "realbackend/launch/workers.h"

/* Zeroed: nobody has asked. */
struct dist__status_request {
	int64_t asked;    /* requests made, as far as this agent knows */
	int64_t answered; /* of these, by this agent */
	bool here;        /* one came to this agent: show the stacks of its
			     ranks in Python */
	/* Of the leader: */
	int64_t quiet;  /* of those asked, the ones that it made for itself */
	bool aloud;     /* somebody else has asked: report to stderr */
	int64_t due_ns; /* when to report at the latest; 0: reported */
	struct check_board *found; /* by a quiet request; NULL: nothing new */
};

/* dist__status_request_ask asks all agents of the job. */
void dist__status_request_ask(struct dist__status_request *request,
			      struct dist__agent *agent);

/* dist__status_request_ask_quietly asks them, too, for the leader alone. */
void dist__status_request_ask_quietly(struct dist__status_request *request,
				      struct dist__agent *agent);

/* dist__status_request_found returns the records that a quiet request found,
 * once, to be freed; NULL: there are none, or not of all ranks. */
struct check_board *
dist__status_request_found(struct dist__status_request *request);

/* dist__status_request_turn does what there is to do about it; to be called
 * after each exchange. */
void dist__status_request_turn(struct dist__status_request *request,
			       struct dist__agent *agent,
			       const struct dist__workers *workers);

#endif
