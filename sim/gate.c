/*
 * gate.c - a place where one actor waits until another opens it.
 */
#include "sim/world.h"

#include <simgrid/semaphore.h>

void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__sim_gate *gate, int64_t deadline_ns)
{
	bool late;

	if (!dist__sim_block(world))
		return;
	gate->waiting = true;
	late = sg_sem_acquire_timeout(
		gate->sem, dist__sim_seconds_until(world, deadline_ns));
	if (!late)
		return;
	if (gate->waiting) {
		gate->waiting = false;
		dist__sim_unblock(world);
	} else {
		/* Opened in the very instant of the deadline: the token is
		 * there, and must not let a later wait through. */
		sg_sem_acquire(gate->sem);
	}
}

void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__sim_gate *gate)
{
	if (!gate->waiting)
		return;
	gate->waiting = false;
	dist__sim_unblock(world);
	sg_sem_release(gate->sem);
}
