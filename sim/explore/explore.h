/* explore.h - one job run in many ways. Private to sim/explore/. */
#ifndef LOCKSTEP_SIM_EXPLORE_EXPLORE_H
#define LOCKSTEP_SIM_EXPLORE_EXPLORE_H

#include "sim/explore/bounds.h"
#include "sim/world.h"

/*
 * dist__sim_explore runs an open world many times, each in a forked process
 * whose output is dropped (files that ranks write are not), and then once in
 * this process: by the plan of the worst run found, or as configured if all
 * ended well. Sends follow the world's rule and, unless one_rule, also the
 * other one of rendezvous and buffered. Reports to stderr what was explored.
 * Returns the exit status of the job.
 */
int dist__sim_explore(struct dist__sim_world *world,
		      const struct dist__sim_bounds *bounds, bool one_rule);

#endif
