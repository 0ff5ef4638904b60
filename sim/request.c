/*
 * request.c - the memory of messages in flight, and queues of them.
 *
 * A run makes millions of requests and has a few thousand at a time: they come
 * from slabs that live as long as the world. The copy of a payload belongs to
 * the send's request; because the two ends of a message complete together but
 * run one after the other, both requests live until both ends are consumed.
 */
#include "sim/request.h"

#include <stdlib.h>

#define SLAB 256

struct dist__sim_slab {
	struct dist__sim_slab *next;
	struct dist__request requests[SLAB];
};

static bool add_slab(struct dist__sim_world *world)
{
	struct dist__sim_slab *slab = calloc(1, sizeof *slab);

	if (!slab)
		return false;
	slab->next = world->slabs;
	world->slabs = slab;
	for (size_t i = SLAB; i-- > 0;) {
		slab->requests[i].next = world->free_requests;
		world->free_requests = &slab->requests[i];
	}
	return true;
}

struct dist__request *dist__sim_request_new(struct dist__sim_world *world)
{
	struct dist__request *request;

	if (!world->free_requests && !add_slab(world))
		return NULL;
	request = world->free_requests;
	world->free_requests = request->next;
	*request = (struct dist__request){.in_use = true};
	return request;
}

void dist__sim_request_free(struct dist__sim_world *world,
			    struct dist__request *request)
{
	free(request->copy);
	request->copy = NULL;
	request->in_use = false;
	request->next = world->free_requests;
	world->free_requests = request;
}

void dist__sim_request_consume(struct dist__sim_world *world,
			       struct dist__request *request)
{
	struct dist__request *mate = request->mate;

	request->consumed = true;
	if (mate && !mate->consumed)
		return;
	dist__sim_request_free(world, request);
	if (mate)
		dist__sim_request_free(world, mate);
}

void dist__sim_queue_insert(struct dist__sim_queue *queue,
			    struct dist__request *before,
			    struct dist__request *request)
{
	struct dist__request *next = before ? before->next : queue->first;

	request->queue = queue;
	request->before = before;
	request->next = next;
	if (before)
		before->next = request;
	else
		queue->first = request;
	if (next)
		next->before = request;
	else
		queue->last = request;
}

void dist__sim_queue_append(struct dist__sim_queue *queue,
			    struct dist__request *request)
{
	dist__sim_queue_insert(queue, queue->last, request);
}

bool dist__sim_queue_remove(struct dist__sim_queue *queue,
			    struct dist__request *request)
{
	struct dist__request *before = request->before, *next = request->next;

	if (request->queue != queue)
		return false;
	if (before)
		before->next = next;
	else
		queue->first = next;
	if (next)
		next->before = before;
	else
		queue->last = before;
	request->queue = NULL;
	request->next = request->before = NULL;
	return true;
}

void dist__sim_requests_release(struct dist__sim_world *world)
{
	struct dist__sim_slab *slab, *next;

	for (slab = world->slabs; slab; slab = next) {
		next = slab->next;
		for (size_t i = 0; i < SLAB; i++) {
			struct dist__request *request = &slab->requests[i];

			/* A rank left it without waiting. */
			if (request->in_use && request->end.transfer)
				(void)dist__engine->cancel(&request->end);
			if (request->in_use)
				free(request->copy);
		}
		free(slab);
	}
}
