/*
 * look.h - where the ranks of all nodes are, because somebody asked one of the
 * launchers (SIGUSR1). Every agent leaves the records of its ranks as they are
 * then, and the leader tells. Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_LOOK_H
#define LOCKSTEP_TCP_LOOK_H

#include "realbackend/tcp/agent.h"
#include "realbackend/tcp/workers.h"

/* Zeroed: nobody has asked. */
struct dist__look {
	int64_t asked;    /* looks asked for, as far as this agent knows */
	int64_t answered; /* by this agent */
	int64_t due_ns;   /* leader: when to tell at the latest; 0: told */
};

/* dist__look_ask asks all agents of the job. */
void dist__look_ask(struct dist__look *look, struct dist__agent *agent);

/* dist__look_turn does what there is to do about it; to be called after each
 * exchange. */
void dist__look_turn(struct dist__look *look, struct dist__agent *agent,
		     const struct dist__workers *workers);

#endif
