/*
 * delay_injection.h - delays that a plan asks for. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_DELAY_INJECTION_H
#define LOCKSTEP_SIM_DELAY_INJECTION_H

#include "sim/world.h"

/* dist__sim_delay_call adds the plan's delay of the current call to the time
 * that the calling actor has to let pass, if it is a rank: once, at the call's
 * first message or job. */
void dist__sim_delay_call(struct dist__sim_actor *actor);

/* dist__sim_delay_look lets the plan's delay of a test of completion pass. */
void dist__sim_delay_look(struct dist__sim_actor *actor);

#endif
