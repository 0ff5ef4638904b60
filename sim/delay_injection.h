/*
 * delay_injection.h - delays that a plan asks for. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_DELAY_INJECTION_H
#define LOCKSTEP_SIM_DELAY_INJECTION_H

#include "sim/world.h"

/* dist__sim_delay_call lets the calling actor, if it is a rank, owe the time by
 * which the plan delays its call, at the first message or job of that. */
void dist__sim_delay_call(struct dist__sim_actor *actor);

/* dist__sim_delay_look lets the time pass by which the plan delays a look. */
void dist__sim_delay_look(struct dist__sim_actor *actor);

#endif
