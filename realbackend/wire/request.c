#include <stdlib.h>

#include "realbackend/wire/mesh.h"

void dist__queue_init(struct dist__queue *queue)
{
	queue->first = NULL;
	queue->end = &queue->first;
}

void dist__queue_append(struct dist__queue *queue,
			struct dist__request *request)
{
	request->next = NULL;
	*queue->end = request;
	queue->end = &request->next;
}

bool dist__queue_remove(struct dist__queue *queue,
			struct dist__request *request)
{
	struct dist__request **link = &queue->first;

	while (*link && *link != request)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = request->next;
	if (!*link)
		queue->end = link;
	return true;
}

void dist__request_complete(struct dist__mesh *mesh,
			    struct dist__request *request,
			    enum dist_error error)
{
	if (request->kind == DIST__REQUEST_CONTROL) {
		free(request);
		return;
	}
	if (request->counted)
		mesh->detached--;
	request->counted = false;
	request->error = error;
	request->complete = true;
	mesh->completions++;
	if (request->awaited) {
		pthread_cond_broadcast(&mesh->announced);
		pthread_cond_broadcast(&mesh->idle);
	}
}

bool dist__request_control(struct dist__peer *peer, enum dist__frame_kind kind,
			   uint32_t group)
{
	struct dist__frame frame = {.kind = kind, .group = group, .tag = -1};
	struct dist__request *request = calloc(1, sizeof *request);

	if (!request)
		return false;
	request->kind = DIST__REQUEST_CONTROL;
	request->m.peer = peer->rank;
	request->m.group = group;
	request->cell = -1;
	request->head = DIST__FRAME_BYTES;
	dist__frame_encode(&frame, request->header);
	dist__queue_append(&peer->sends, request);
	return true;
}
