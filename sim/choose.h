/*
 * choose.h - choices that a plan makes where a run could go several ways.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_CHOOSE_H
#define LOCKSTEP_SIM_CHOOSE_H

#include "sim/world.h"

/* The error for a token whose choices this job does not have. */
#define DIST__SIM_OTHER_JOB                                                    \
	"the replay token is of another job: expected the same program, "      \
	"platform and number of ranks"

/* dist__sim_choose gives a message to an any-source receive, or answers a test
 * of completion, as the plan chooses; after that an actor can move. Called when
 * nothing can move, except tests of collectives. Returns false if the plan does
 * not choose, or there is nothing to choose. */
bool dist__sim_choose(struct dist__sim_world *world);

/* dist__sim_chose_all returns whether all choices of the plan were made. */
bool dist__sim_chose_all(const struct dist__sim_world *world);

/* dist__sim_look blocks the calling actor, a rank, until it is decided whether
 * its test finds r, a message or receive, complete, and returns that; false
 * also when the world has ended. */
bool dist__sim_look(struct dist__sim_actor *actor, struct dist__request *r);

/* dist__sim_looks_end wakes all ranks in dist__sim_look(), and those that wait
 * for a key: the world has ended. */
void dist__sim_looks_end(struct dist__sim_world *world);

#endif
