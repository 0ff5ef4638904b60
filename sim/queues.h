/*
 * queues.h - messages over links that pass them first in, first out (queues.c).
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_QUEUES_H
#define LOCKSTEP_SIM_QUEUES_H

#include "sim/world.h"

/* dist__sim_queues_new makes the queues of all links of the world's platform.
 * They call come(message, well) outside all actors for each message that has
 * arrived or was lost. NULL: no memory. */
struct dist__sim_queues *
dist__sim_queues_new(struct dist__sim_world *world,
		     void (*come)(struct dist__request *message, bool well));

/* dist__sim_queues_free frees queues; NULL is allowed. */
void dist__sim_queues_free(struct dist__sim_queues *queues);

/* dist__sim_queues_send sends message's bytes. Returns false, and sends
 * nothing, without a route or memory. */
bool dist__sim_queues_send(struct dist__sim_queues *queues,
			   struct dist__request *message);

#endif
