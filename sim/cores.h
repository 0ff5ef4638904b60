/*
 * cores.h - the cores that ranks share, and what a message takes of one.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_CORES_H
#define LOCKSTEP_SIM_CORES_H

#include "sim/world.h"

/* dist__sim_cores_open makes the cores of the profile. Errors: NO_MEMORY. */
enum dist_error dist__sim_cores_open(struct dist__sim_world *world);

/* dist__sim_core_take has the core of rank do so much more work, and returns
 * the time until that is done. */
double dist__sim_core_take(const struct dist__sim_rank *rank, double work_s);

/* dist__sim_core_idle_s returns how long the core of rank has had nothing to do
 * until now, since since_s at most. */
double dist__sim_core_idle_s(const struct dist__sim_rank *rank, double since_s);

/* dist__sim_core_is_shared returns whether the core of rank is others' too. */
bool dist__sim_core_is_shared(const struct dist__sim_rank *rank);

/* dist__sim_load_bytes returns with how many bytes m, of rank, loads links and
 * cores; dist__sim_sum_bytes to add it up the latter. */
double dist__sim_load_bytes(const struct dist__sim_rank *rank,
			    const struct dist__message *m);
double dist__sim_sum_bytes(const struct dist__sim_rank *rank,
			   const struct dist__message *m);

/* dist__sim_copy_bytes returns with how many bytes a copy of so many, of a call
 * of op (NULL: not known), loads the core of rank. */
double dist__sim_copy_bytes(const struct dist__sim_rank *rank,
			    const struct dist__op *op, size_t bytes);

/* dist__sim_copy_s returns what a message of that load takes of a core that
 * copies rate_Bps, the profile's send_Bps or receive_Bps. */
double dist__sim_copy_s(const struct dist__sim_world *world, double load_bytes,
			double rate_Bps);

#endif
