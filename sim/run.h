/*
 * run.h - running an open world, also by a plan. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_RUN_H
#define LOCKSTEP_SIM_RUN_H

#include "sim/world.h"

/* dist__sim_run runs an open world, once in a process, and returns the job's
 * exit status. */
int dist__sim_run(struct dist__sim_world *world);

/* dist__sim_follow makes the world run by plan, which is borrowed. Returns
 * false if the plan's rule for sends is unknown. */
bool dist__sim_follow(struct dist__sim_world *world,
		      const struct dist__sim_plan *plan);

/* dist__sim_note_p2p writes the rule for sends to the trace, if there is one.
 */
void dist__sim_note_p2p(const struct dist__sim_world *world);

/* dist__sim_running returns the world that runs now, or NULL. */
struct dist__sim_world *dist__sim_running(void);

#endif
