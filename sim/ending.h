/*
 * ending.h - the end of a world: all ranks returned, or nothing can move.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_ENDING_H
#define LOCKSTEP_SIM_ENDING_H

#include "sim/world.h"

/* dist__sim_stand_still and dist__sim_end are slots of struct
 * dist__sim_world_ops. */
bool dist__sim_stand_still(struct dist__sim_world *world);
void dist__sim_end(struct dist__sim_world *world, enum dist_error error,
		   int exit_status);

/* dist__sim_exit_status judges a world whose ranks have all returned, writes
 * the verdict if there is one, and returns the job's exit status. */
int dist__sim_exit_status(struct dist__sim_world *world);

#endif
