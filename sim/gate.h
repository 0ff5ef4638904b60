/*
 * gate.h - a gate at which one actor waits until another opens it. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_GATE_H
#define LOCKSTEP_SIM_GATE_H

#include "sim/world.h"

/* dist__sim_gate_wait waits until the gate opens, deadline_ns passes, or the
 * world ends; the caller checks which. */
void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__engine_gate *gate, int64_t deadline_ns);

/* dist__sim_gate_open lets the waiting actor go on, if there is one. */
void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__engine_gate *gate);

#endif
