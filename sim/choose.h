/*
 * choose.h - what happens next where a plan says so. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_CHOOSE_H
#define LOCKSTEP_SIM_CHOOSE_H

#include "sim/world.h"

/* What is said of a token that asks for what this job cannot do. */
#define DIST__SIM_OTHER_JOB                                                    \
	"the replay token is of another job: expected the same program, "      \
	"platform and number of ranks"

/* dist__sim_choose lets a message meet an any-source receive soon, or a look be
 * told, if the plan is to choose and there is one; false: there is none. Called
 * when nothing can move, or only look at collectives; afterwards one can. */
bool dist__sim_choose(struct dist__sim_world *world);

/* dist__sim_chose_all returns whether all choices of the plan were made. */
bool dist__sim_chose_all(const struct dist__sim_world *world);

/* dist__sim_look lets the calling actor, a rank, wait to be told whether r, a
 * message or receive, is complete; false also when the world has ended. */
bool dist__sim_look(struct dist__sim_actor *actor, struct dist__request *r);

/* dist__sim_looks_end tells all that look that the world has ended. */
void dist__sim_looks_end(struct dist__sim_world *world);

#endif
