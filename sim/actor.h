/*
 * actor.h - what an actor owes, and why nothing passes at its rank. Private
 * to sim/.
 */
#ifndef LOCKSTEP_SIM_ACTOR_H
#define LOCKSTEP_SIM_ACTOR_H

#include "sim/world.h"

/* dist__sim_pay lets the time pass that the calling actor owes. */
void dist__sim_pay(struct dist__sim_actor *actor);

/* dist__sim_state_of returns why nothing of group can pass at rank any more, or
 * OK. */
enum dist_error dist__sim_state_of(const struct dist__sim_rank *rank,
				   uint32_t group);

/* dist__sim_pay_before does so, and takes copy_s more of the actor's core,
 * unless it holds that: it returns when the latter begins. */
void dist__sim_pay_before(struct dist__sim_actor *actor, double copy_s);

/* dist__sim_pass lets time pass for the calling actor. */
void dist__sim_pass(const struct dist__sim_actor *actor, double time_s);

/* dist__sim_has_aborted returns whether rank is out of group. */
bool dist__sim_has_aborted(const struct dist__sim_rank *rank, uint32_t group);

#endif
