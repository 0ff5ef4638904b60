/*
 * queues.h - messages over links that let pass what comes in the order it
 * comes (queues.c). Private to sim/.
 */
#ifndef LOCKSTEP_SIM_QUEUES_H
#define LOCKSTEP_SIM_QUEUES_H

#include "sim/world.h"

/* dist__sim_queues_new makes the queues of all links of the world's platform,
 * which call come, outside all actors, with each message that they are done
 * with, well or not. NULL: no memory. */
struct dist__sim_queues *
dist__sim_queues_new(struct dist__sim_world *world,
		     void (*come)(struct dist__request *message, bool well));

/* dist__sim_queues_free takes NULL, too. */
void dist__sim_queues_free(struct dist__sim_queues *queues);

/* dist__sim_queues_send sends message's bytes. Returns false when no link leads
 * there, or there is no memory: then nothing is sent. */
bool dist__sim_queues_send(struct dist__sim_queues *queues,
			   struct dist__request *message);

#endif
