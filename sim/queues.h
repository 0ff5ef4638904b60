/*
 * queues.h - messages over links that let pass what comes in the order it
 * comes (queues.c). Private to sim/.
 */
#ifndef LOCKSTEP_SIM_QUEUES_H
#define LOCKSTEP_SIM_QUEUES_H

#include "sim/world.h"

/* dist__sim_queues_new makes the queues of all links of the world's platform;
 * NULL: no memory. */
struct dist__sim_queues *dist__sim_queues_new(struct dist__sim_world *world);

/* dist__sim_queues_free takes NULL, too. */
void dist__sim_queues_free(struct dist__sim_queues *queues);

/*
 * dist__sim_queues_send sends letter's bytes; dist__sim_letter_come() is called
 * with it, outside all actors, when they are there. Returns false when no link
 * leads there, or there is no memory: then nothing is sent.
 */
bool dist__sim_queues_send(struct dist__sim_queues *queues,
			   struct dist__request *letter);

#endif
