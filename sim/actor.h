/*
 * actor.h - time that an actor still has to let pass, and errors that stop its
 * rank. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_ACTOR_H
#define LOCKSTEP_SIM_ACTOR_H

#include "sim/world.h"

/* dist__sim_pay lets the calling actor's outstanding time (debt_s) pass. */
void dist__sim_pay(struct dist__sim_actor *actor);

/* dist__sim_state_of returns the error with which calls of rank on group fail
 * from now on, or OK. */
enum dist_error dist__sim_state_of(const struct dist__sim_rank *rank,
				   uint32_t group);

/* dist__sim_pay_before does dist__sim_pay and then, unless the actor holds its
 * core, takes copy_s more of the core; it returns when that begins. */
void dist__sim_pay_before(struct dist__sim_actor *actor, double copy_s);

/* dist__sim_pass lets time_s pass for the calling actor. */
void dist__sim_pass(const struct dist__sim_actor *actor, double time_s);

/* dist__sim_has_aborted returns whether rank has aborted group. */
bool dist__sim_has_aborted(const struct dist__sim_rank *rank, uint32_t group);

#endif
