/*
 * gate.h - where one actor waits until another lets it go on. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_GATE_H
#define LOCKSTEP_SIM_GATE_H

#include "sim/world.h"

/* dist__sim_gate_wait waits until the gate opens, or deadline_ns passes, or the
 * world ends: the caller looks why. */
void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__engine_gate *gate, int64_t deadline_ns);

/* dist__sim_gate_open lets the one go on that waits there, if one does. */
void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__engine_gate *gate);

#endif
