/*
 * request.h - allocation and queues of requests. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_REQUEST_H
#define LOCKSTEP_SIM_REQUEST_H

#include "sim/world.h"

/* dist__sim_request_new returns a zeroed request; NULL: no memory. */
struct dist__request *dist__sim_request_new(struct dist__sim_world *world);

/* dist__sim_request_free frees request. */
void dist__sim_request_free(struct dist__sim_world *world,
			    struct dist__request *request);

/* dist__sim_request_consume marks one end of a collective's message as
 * consumed; when both ends are, both are freed. */
void dist__sim_request_consume(struct dist__sim_world *world,
			       struct dist__request *request);

/* dist__sim_queue_insert inserts request, which is in no queue, after `before`
 * (NULL: at the beginning); dist__sim_queue_append inserts it at the end. */
void dist__sim_queue_insert(struct dist__sim_queue *queue,
			    struct dist__request *before,
			    struct dist__request *request);
void dist__sim_queue_append(struct dist__sim_queue *queue,
			    struct dist__request *request);

/* dist__sim_queue_remove removes request. Returns false if it is not in there.
 */
bool dist__sim_queue_remove(struct dist__sim_queue *queue,
			    struct dist__request *request);

/* dist__sim_requests_release frees all requests, after the simulation. */
void dist__sim_requests_release(struct dist__sim_world *world);

#endif
