/*
 * run.h - the run of a world that is open, and what its ranks do by a plan.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_RUN_H
#define LOCKSTEP_SIM_RUN_H

#include "sim/world.h"

/* dist__sim_run runs a world that is open, once in a process, and returns the
 * job's exit status. */
int dist__sim_run(struct dist__sim_world *world);

/* dist__sim_follow lets the world run by plan, which is borrowed. False: its
 * rule for sends is none. */
bool dist__sim_follow(struct dist__sim_world *world,
		      const struct dist__sim_plan *plan);

/* dist__sim_note_p2p notes in the trace, if there is one, when sends end. */
void dist__sim_note_p2p(const struct dist__sim_world *world);

/* dist__sim_running returns the world that runs now, or NULL. */
struct dist__sim_world *dist__sim_running(void);

#endif
