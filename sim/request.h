/*
 * request.h - the memory of ends of messages, and queues of them. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_REQUEST_H
#define LOCKSTEP_SIM_REQUEST_H

#include "sim/world.h"

/* dist__sim_request_new returns a zeroed request; NULL: no memory. */
struct dist__request *dist__sim_request_new(struct dist__sim_world *world);

/* dist__sim_request_free gives it back. */
void dist__sim_request_free(struct dist__sim_world *world,
			    struct dist__request *request);

/* dist__sim_request_consume gives up one end of a message of a collective: two
 * mates are freed together, when both were consumed. */
void dist__sim_request_consume(struct dist__sim_world *world,
			       struct dist__request *request);

/* dist__sim_queue_insert puts request behind `before`, NULL: at the beginning;
 * dist__sim_queue_append at the end. It is in no queue. */
void dist__sim_queue_insert(struct dist__sim_queue *queue,
			    struct dist__request *before,
			    struct dist__request *request);
void dist__sim_queue_append(struct dist__sim_queue *queue,
			    struct dist__request *request);

/* dist__sim_queue_remove takes request out; false: it was not in there. */
bool dist__sim_queue_remove(struct dist__sim_queue *queue,
			    struct dist__request *request);

/* dist__sim_requests_release frees all, after the simulation. */
void dist__sim_requests_release(struct dist__sim_world *world);

#endif
