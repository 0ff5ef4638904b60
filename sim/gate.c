/*
 * gate.c - a gate of the engine, for who counts what can move.
 */
#include "sim/gate.h"

#include "sim/progress.h"

void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__engine_gate *gate, int64_t deadline_ns)
{
	if (!dist__sim_block(world))
		return;
	if (!dist__engine->wait_at(gate,
				   dist__sim_seconds_until(world, deadline_ns)))
		dist__sim_unblock(world);
}

void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__engine_gate *gate)
{
	if (!gate->waiter)
		return;
	dist__sim_unblock(world);
	dist__engine->open(gate);
}
