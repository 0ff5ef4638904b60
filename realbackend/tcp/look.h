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
	/* Of the leader: */
	int64_t quiet;  /* looks among those asked that it wants for itself */
	bool aloud;     /* somebody else wants to be told, too */
	int64_t due_ns; /* when to tell at the latest; 0: told */
	struct check_board *found; /* of a quiet look; NULL: nothing new */
};

/* dist__look_ask asks all agents of the job. */
void dist__look_ask(struct dist__look *look, struct dist__agent *agent);

/* dist__look_ask_quietly asks them, too, for the leader alone. */
void dist__look_ask_quietly(struct dist__look *look, struct dist__agent *agent);

/* dist__look_found returns the records that a quiet look found, once, to be
 * freed; NULL: there are none, or not of all ranks. */
struct check_board *dist__look_found(struct dist__look *look);

/* dist__look_turn does what there is to do about it; to be called after each
 * exchange. */
void dist__look_turn(struct dist__look *look, struct dist__agent *agent,
		     const struct dist__workers *workers);

#endif
