/*
 * message.c - frames and their bodies over the transport.
 */
#include <stdlib.h>
#include <string.h>

#include "core/rpc/state.h"

/* Frames have the tag 0, others a tag each: bodies by their sender, odd, and
 * replies by their receiver, even. */
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

void dist_rpc_bytes_free(struct dist_rpc_bytes *value)
{
	if (!value)
		return;
	free(value->data);
	*value = (struct dist_rpc_bytes){NULL, 0};
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
