/*
 * gate.c - a place where one actor waits until another opens it.
 */
#include "sim/gate.h"

#include <simgrid/semaphore.h>

#include "sim/progress.h"

void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__sim_gate *gate, int64_t deadline_ns)
{
	sg_sem_t sem;
	bool late;

	if (!dist__sim_block(world))
		return;
	/* Most ranks wait nowhere most of the time, and a semaphore takes more
	 * memory than what waits there. */
	sem = gate->sem = sg_sem_init(0);
	late = sg_sem_acquire_timeout(
		sem, dist__sim_seconds_until(world, deadline_ns));
	if (late && gate->sem == sem) {
		gate->sem = NULL;
		dist__sim_unblock(world);
	} else if (late) {
		/* Opened in the very instant of the deadline: who does it still
		 * has the semaphore in hand. */
		sg_sem_acquire(sem);
	}
	sg_sem_destroy(sem);
}

void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__sim_gate *gate)
{
	sg_sem_t sem = gate->sem;

	if (!sem)
		return;
	gate->sem = NULL;
	dist__sim_unblock(world);
	sg_sem_release(sem);
}
