/*
 * message.c - frames and their bodies over the transport.
 */
#include <stdlib.h>
#include <string.h>

#include "core/rpc/rpc.h"

/* Of frames; others have a tag each: bodies by their sender, odd, and replies
 * by their receiver, even. */
#define FRAME_TAG  0
#define OTHER_TAGS (UINT32_C(1) << 29)

static struct dist__message message_of(const struct dist_rpc *rpc, int worker,
				       int tag, void *data, size_t bytes)
{
	return (struct dist__message){
		.peer = dist__global_rank(&rpc->group->members, worker),
		.group = rpc->message_group,
		.tag = tag,
		.data = data,
		.bytes = bytes,
		.buffered = true,
	};
}

enum dist_error dist__rpc_copy(struct dist_rpc_bytes *copy,
			       struct dist_rpc_bytes bytes)
{
	*copy = (struct dist_rpc_bytes){NULL, bytes.bytes};
	if (!bytes.data || bytes.bytes == 0)
		return DIST_OK;
	copy->data = malloc(bytes.bytes);
	if (!copy->data)
		return DIST_ERR_NO_MEMORY;
	memcpy(copy->data, bytes.data, bytes.bytes);
	return DIST_OK;
}

/* ---- sending -------------------------------------------------------- */

static bool has_body(const struct dist__rpc_frame *frame)
{
	return frame->phantom || frame->bytes > DIST__RPC_SHORT;
}

uint32_t dist__rpc_tag(struct dist_rpc *rpc)
{
	uint32_t number;

	dist__rpc_lock(rpc);
	number = rpc->tags++;
	dist__rpc_unlock(rpc);
	return 2 + number % OTHER_TAGS * 2;
}

enum dist_error dist__rpc_send(struct dist_rpc *rpc, int to, uint32_t tag,
			       struct dist__rpc_post *post,
			       struct dist_rpc_bytes bytes)
{
	struct dist__transport *t = rpc->transport;
	struct dist__message m;
	enum dist_error error;

	post->frame.bytes = bytes.bytes;
	post->frame.phantom = !bytes.data && bytes.bytes > 0;
	if (has_body(&post->frame)) {
		post->frame.body_tag = dist__rpc_tag(rpc) - 1;
	} else if (bytes.bytes > 0) {
		memcpy(post->frame.data, bytes.data, bytes.bytes);
	}
	post->head = post->body = NULL;
	m = message_of(rpc, to, (int)tag, &post->frame, sizeof post->frame);
	error = t->ops->isend(t, &m, &post->head);
	if (error || !has_body(&post->frame))
		return error;
	m = message_of(rpc, to, (int)post->frame.body_tag, bytes.data,
		       bytes.bytes);
	error = t->ops->isend(t, &m, &post->body);
	if (error)
		(void)dist__rpc_sent(rpc, post, 0);
	return error;
}

enum dist_error dist__rpc_sent(struct dist_rpc *rpc,
			       struct dist__rpc_post *post, int64_t deadline_ns)
{
	struct dist__transport *t = rpc->transport;
	enum dist_error error = DIST_OK, late = DIST_OK;

	if (post->head)
		error = t->ops->wait(t, post->head, deadline_ns);
	if (post->body)
		late = t->ops->wait(t, post->body, deadline_ns);
	post->head = post->body = NULL;
	return error ? error : late;
}

/* ---- receiving ------------------------------------------------------ */

enum dist_error dist__rpc_expect(struct dist_rpc *rpc, int from, uint32_t tag,
				 struct dist__rpc_frame *frame,
				 struct dist__request **request)
{
	struct dist__transport *t = rpc->transport;
	struct dist__message m =
		message_of(rpc, from, (int)tag, frame, sizeof *frame);

	return t->ops->irecv(t, &m, request);
}

/* The workers that are not lost, in *members, if some are; the list is to be
 * freed. Returns how many are lost. */
static unsigned find_living(struct dist_rpc *rpc, struct dist__members *members,
			    int **list)
{
	unsigned lost;
	int n = 0;

	*members = rpc->group->members;
	*list = NULL;
	dist__rpc_lock(rpc);
	lost = rpc->num_lost;
	if (lost > 0)
		*list = malloc((size_t)rpc->num_workers * sizeof **list);
	for (int i = 0; *list && i < rpc->num_workers; i++) {
		if (rpc->lost[i])
			continue;
		if (i == rpc->worker)
			members->rank = n;
		(*list)[n++] = dist__global_rank(&rpc->group->members, i);
	}
	dist__rpc_unlock(rpc);
	if (*list) {
		members->ranks = *list;
		members->world_size = n;
	}
	return lost;
}

/* Asks every worker that is not known to be lost whether it is. */
static void find_lost(struct dist_rpc *rpc)
{
	for (int to = 0; to < rpc->num_workers; to++) {
		struct dist__rpc_post post = {.frame.kind = DIST__RPC_NOTHING};
		bool known = to == rpc->worker;

		dist__rpc_lock(rpc);
		known |= rpc->lost[to];
		dist__rpc_unlock(rpc);
		if (known)
			continue;
		if (!dist__rpc_send(rpc, to, FRAME_TAG, &post,
				    (struct dist_rpc_bytes){NULL, 0}) &&
		    !dist__rpc_sent(rpc, &post, DIST_TIMEOUT_NEVER))
			continue;
		dist__rpc_lose(rpc, to);
	}
}

/* Whether there is somebody to hear once more, after a worker was lost of which
 * `lost` did not tell. */
static bool goes_on(struct dist_rpc *rpc, unsigned lost)
{
	bool news, ending;

	dist__rpc_lock(rpc);
	news = rpc->num_lost != lost;
	ending = rpc->ending;
	dist__rpc_unlock(rpc);
	if (ending)
		dist__rpc_calls_fail(rpc, -1, DIST_ERR_PEER_LOST);
	else if (!news)
		find_lost(rpc);
	dist__rpc_lock(rpc);
	news = rpc->num_lost != lost && !rpc->ending &&
	       rpc->num_lost + 1 < (unsigned)rpc->num_workers;
	dist__rpc_unlock(rpc);
	return news;
}

static enum dist_error receive_any(struct dist_rpc *rpc,
				   const struct dist__members *members,
				   struct dist__rpc_frame *frame, int *source)
{
	struct dist__transport *t = rpc->transport;
	struct dist__message m =
		message_of(rpc, 0, FRAME_TAG, frame, sizeof *frame);
	struct dist__request *request;
	enum dist_error error;

	m.peer = DIST_ANY_SOURCE;
	m.members = members;
	m.idles = true;
	m.source = source;
	error = t->ops->irecv(t, &m, &request);
	return error ? error : t->ops->wait(t, request, DIST_TIMEOUT_NEVER);
}

enum dist_error dist__rpc_receive(struct dist_rpc *rpc,
				  struct dist__rpc_frame *frame, int *from)
{
	struct dist__members members;
	enum dist_error error;
	unsigned lost;
	int *list, source = -1;

	do {
		lost = find_living(rpc, &members, &list);
		error = receive_any(rpc, &members, frame, &source);
		free(list);
	} while (error == DIST_ERR_PEER_LOST && goes_on(rpc, lost));
	if (!error)
		*from = rpc->worker_of[source];
	return error;
}

enum dist_error dist__rpc_receive_body(struct dist_rpc *rpc, int from,
				       const struct dist__rpc_frame *frame,
				       struct dist_rpc_bytes *bytes)
{
	struct dist__transport *t = rpc->transport;
	struct dist__request *request;
	struct dist__message m;
	enum dist_error error;

	*bytes = (struct dist_rpc_bytes){NULL, (size_t)frame->bytes};
	if (frame->bytes > 0 && !frame->phantom) {
		bytes->data = malloc(bytes->bytes);
		if (!bytes->data)
			return DIST_ERR_NO_MEMORY;
	}
	if (!has_body(frame)) {
		if (bytes->data)
			memcpy(bytes->data, frame->data, bytes->bytes);
		return DIST_OK;
	}
	m = message_of(rpc, from, (int)frame->body_tag, bytes->data,
		       bytes->bytes);
	error = t->ops->irecv(t, &m, &request);
	if (!error)
		error = t->ops->wait(t, request, DIST_TIMEOUT_NEVER);
	if (error)
		dist_rpc_bytes_free(bytes);
	return error;
}
