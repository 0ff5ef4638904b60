/* explore.h - one job run in many ways. Private to sim/explore/. */
#ifndef LOCKSTEP_SIM_EXPLORE_EXPLORE_H
#define LOCKSTEP_SIM_EXPLORE_EXPLORE_H

#include "sim/explore/bounds.h"
#include "sim/world.h"

/*
 * dist__sim_explore runs a world that was opened, and not run, in many
 * processes of their own, unseen and unheard but for files that ranks write;
 * then in this one: by the plan of the worst end that was found, or as
 * configured when all ended well. Sends end by the world's rule, and, unless
 * one_rule, by the other of rendezvous and buffered too. What was explored goes
 * to stderr. Returns the exit status of the job.
 */
int dist__sim_explore(struct dist__sim_world *world,
		      const struct dist__sim_bounds *bounds, bool one_rule);

#endif
