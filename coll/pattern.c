/*
 * pattern.c - the one place where an algorithm meets the transport.
 *
 * A receive is posted before the send it goes with, so that the peer's message
 * finds its memory waiting. Every request posted is waited for, whatever
 * happens to the other one: only then does the transport let go of the memory.
 */
#include "coll/pattern.h"

#include <assert.h>
#include <stdlib.h>

#include "core/reduce.h"

static size_t element_bytes(const struct dist__coll *coll)
{
	return dist_dtype_size(coll->op->tensor.dtype);
}

struct dist__span dist__span_tensor(const struct dist__coll *coll)
{
	const struct dist_tensor *tensor = &coll->op->tensor;

	return (struct dist__span){
		.data = tensor->data,
		.bytes = tensor->numel * element_bytes(coll),
	};
}

struct dist__span dist__span_chunks(const struct dist__coll *coll,
				    const struct dist__chunks *chunks,
				    int first, int count)
{
	size_t size = element_bytes(coll);
	size_t begin = dist__chunks_numel(chunks, first) * size;
	size_t end = dist__chunks_numel(chunks, first + count) * size;
	char *data = coll->op->tensor.data;

	return (struct dist__span){
		.data = data ? data + begin : NULL,
		.bytes = end - begin,
	};
}

enum dist_error dist__scratch_new(const struct dist__coll *coll, size_t bytes,
				  void **scratch)
{
	*scratch = NULL;
	if (bytes == 0 || !coll->op->tensor.data)
		return DIST_OK;
	*scratch = malloc(bytes);
	return *scratch ? DIST_OK : DIST_ERR_NO_MEMORY;
}

/* ---- messages --------------------------------------------------------- */

static struct dist__message message_of(const struct dist__coll *coll,
				       uint32_t step, int peer,
				       struct dist__span span)
{
	return (struct dist__message){
		.peer = dist__global_rank(coll->members, peer),
		.group = coll->members->group_id,
		.tag = -1,
		.seq = coll->op->seq,
		.step = step,
		.fingerprint = coll->op->fingerprint,
		.data = span.data,
		.bytes = span.bytes,
	};
}

static enum dist_error post_send(const struct dist__coll *coll, uint32_t step,
				 int to, struct dist__span out,
				 struct dist__request **request)
{
	struct dist__transport *t = coll->transport;
	struct dist__message m = message_of(coll, step, to, out);

	return t->ops->isend(t, &m, request);
}

static enum dist_error post_recv(const struct dist__coll *coll, uint32_t step,
				 int from, struct dist__span in,
				 struct dist__request **request)
{
	struct dist__transport *t = coll->transport;
	struct dist__message m = message_of(coll, step, from, in);

	return t->ops->irecv(t, &m, request);
}

static enum dist_error finish(const struct dist__coll *coll,
			      struct dist__request *request)
{
	struct dist__transport *t = coll->transport;

	return t->ops->wait(t, request, coll->op->deadline_ns);
}

/* Gives up a request whose partner failed: it has until now. */
static void drop(const struct dist__coll *coll, struct dist__request *request)
{
	struct dist__transport *t = coll->transport;

	(void)t->ops->wait(t, request, t->ops->now_ns(t));
}

enum dist_error dist__send(const struct dist__coll *coll, uint32_t step, int to,
			   struct dist__span out)
{
	struct dist__request *request = NULL;
	enum dist_error error = post_send(coll, step, to, out, &request);

	return error ? error : finish(coll, request);
}

enum dist_error dist__recv(const struct dist__coll *coll, uint32_t step,
			   int from, struct dist__span in)
{
	struct dist__request *request = NULL;
	enum dist_error error = post_recv(coll, step, from, in, &request);

	return error ? error : finish(coll, request);
}

enum dist_error dist__exchange(const struct dist__coll *coll, uint32_t step,
			       int to, struct dist__span out, int from,
			       struct dist__span in)
{
	struct dist__request *received = NULL, *sent = NULL;
	enum dist_error error = post_recv(coll, step, from, in, &received);

	if (error)
		return error;
	error = post_send(coll, step, to, out, &sent);
	if (error) {
		drop(coll, received);
		return error;
	}
	error = finish(coll, received);
	if (error) {
		drop(coll, sent);
		return error;
	}
	return finish(coll, sent);
}

/* ---- local work ------------------------------------------------------- */

void dist__combine(const struct dist__coll *coll, struct dist__span acc,
		   struct dist__span in)
{
	struct dist__transport *t = coll->transport;
	const struct dist__op *op = coll->op;

	assert(acc.bytes == in.bytes);
	if (acc.data && in.data)
		dist__reduce(op->tensor.dtype, op->reduce_op, acc.data, in.data,
			     acc.bytes / element_bytes(coll));
	if (t->ops->charge_reduce)
		t->ops->charge_reduce(t, acc.bytes);
}
