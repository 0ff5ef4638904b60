/*
 * cores.h - the cores that ranks share, and the time that a message takes of
 * one. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_CORES_H
#define LOCKSTEP_SIM_CORES_H

#include "sim/world.h"

/* dist__sim_cores_open creates the cores that the profile states. Errors:
 * NO_MEMORY. */
enum dist_error dist__sim_cores_open(struct dist__sim_world *world);

/* dist__sim_core_take adds work_s to the work of rank's core, and returns the
 * time until it is done. */
double dist__sim_core_take(const struct dist__sim_rank *rank, double work_s);

/* dist__sim_core_idle_s returns how long the core of rank has been idle,
 * counted from since_s at the earliest. */
double dist__sim_core_idle_s(const struct dist__sim_rank *rank, double since_s);

/* dist__sim_core_is_shared returns whether other ranks have the same core. */
bool dist__sim_core_is_shared(const struct dist__sim_rank *rank);

/* dist__sim_load_bytes returns the bytes with which message m of rank loads
 * links and cores; dist__sim_sum_bytes those with which its reduction loads the
 * core. */
double dist__sim_load_bytes(const struct dist__sim_rank *rank,
			    const struct dist__message *m);
double dist__sim_sum_bytes(const struct dist__sim_rank *rank,
			   const struct dist__message *m);

/* dist__sim_copy_bytes returns the bytes with which a copy of bytes loads the
 * core of rank, in a call of op (NULL: not known). */
double dist__sim_copy_bytes(const struct dist__sim_rank *rank,
			    const struct dist__op *op, size_t bytes);

/* dist__sim_copy_s returns the time that a message of load_bytes takes of a
 * core that copies at rate_Bps, the profile's send_Bps or receive_Bps. */
double dist__sim_copy_s(const struct dist__sim_world *world, double load_bytes,
			double rate_Bps);

#endif
