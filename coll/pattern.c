/*
 * pattern.c - the only file in which algorithms call the transport.
 *
 * A receive is posted before the send that goes with it, so that the peer's
 * message finds its memory. Every posted request is waited for, also after the
 * other one failed: only then does the transport stop using the memory.
 */
#include "coll/pattern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"

/* So many ranks need no memory but the stack's for a message with each. */
#define FEW_RANKS 2

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

struct dist__span dist__span_part(const struct dist__coll *coll,
				  const struct dist__parts *parts, int rank)
{
	struct dist_tensor part = dist__part(parts, rank);

	return (struct dist__span){
		.data = part.data,
		.bytes = part.numel * element_bytes(coll),
	};
}

struct dist__span dist__span_parts(const struct dist__coll *coll,
				   const struct dist__parts *parts, int first,
				   int count)
{
	size_t size = element_bytes(coll);
	size_t begin = dist__parts_before(parts, first) * size;
	size_t end = dist__parts_before(parts, first + count) * size;
	char *data = parts->whole.data;

	assert(!parts->list);
	return (struct dist__span){
		.data = data ? data + begin : NULL,
		.bytes = end - begin,
	};
}

void dist__copy(struct dist__span to, struct dist__span from)
{
	assert(to.bytes == from.bytes);
	if (to.data && from.data && to.data != from.data && to.bytes > 0)
		memcpy(to.data, from.data, to.bytes);
}

void dist__charge_copy(const struct dist__coll *coll, size_t bytes)
{
	struct dist__transport *t = coll->transport;

	if (t->ops->simulation)
		t->ops->simulation->charge_copy(t, coll->op, bytes);
}

enum dist_error dist__scratch_new(const struct dist__coll *coll, size_t bytes,
				  void **scratch)
{
	*scratch = NULL;
	if (bytes == 0 || coll->op->phantom)
		return DIST_OK;
	*scratch = malloc(bytes);
	return *scratch ? DIST_OK : DIST_ERR_NO_MEMORY;
}

enum dist_error dist__sum_scratch_new(const struct dist__coll *coll,
				      size_t bytes, void **scratch)
{
	return dist__scratch_new(
		coll, coll->transport->ops->combines ? 0 : bytes, scratch);
}

/* The lengths of the parts of a list come first, then their elements. */
enum dist_error dist__packed_new(const struct dist__coll *coll,
				 const struct dist__parts *parts,
				 struct dist__packed *packed)
{
	size_t numel = dist__parts_before(parts, parts->count);
	size_t lengths = parts->list ? (size_t)parts->count * sizeof numel : 0;
	size_t bytes = coll->op->phantom ? 0 : numel * element_bytes(coll);
	size_t *splits;

	*packed = (struct dist__packed){.parts = *parts};
	packed->parts.list = NULL;
	packed->parts.whole = (struct dist_tensor){
		.numel = numel, .dtype = coll->op->tensor.dtype};
	if (lengths + bytes == 0)
		return DIST_OK;
	packed->scratch = malloc(lengths + bytes);
	if (!packed->scratch)
		return DIST_ERR_NO_MEMORY;
	if (bytes > 0)
		packed->parts.whole.data = (char *)packed->scratch + lengths;
	if (lengths == 0)
		return DIST_OK;
	splits = packed->scratch;
	for (int rank = 0; rank < parts->count; rank++)
		splits[rank] = parts->list[rank].numel;
	packed->parts.splits = splits;
	return DIST_OK;
}

enum dist_error dist__packed_of(const struct dist__coll *coll,
				const struct dist__parts *parts,
				struct dist__packed *packed)
{
	if (parts->list)
		return dist__packed_new(coll, parts, packed);
	*packed = (struct dist__packed){.parts = *parts};
	return DIST_OK;
}

void dist__parts_copy(const struct dist__coll *coll,
		      const struct dist__parts *to,
		      const struct dist__parts *from)
{
	if (coll->op->phantom)
		return;
	for (int rank = 0; rank < to->count; rank++)
		dist__copy(dist__span_part(coll, to, rank),
			   dist__span_part(coll, from, rank));
}

/* ---- messages --------------------------------------------------------- */

struct dist__message dist__message_of(const struct dist__coll *coll,
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
		.op = coll->op,
	};
}

static enum dist_error finish(const struct dist__coll *coll,
			      struct dist__request *request)
{
	struct dist__transport *t = coll->transport;

	return t->ops->wait(t, request, coll->op->deadline_ns);
}

/* Waits for the n requests; once something failed the others have until now. */
static enum dist_error finish_all(const struct dist__coll *coll,
				  struct dist__request **requests, int n,
				  enum dist_error error)
{
	for (int i = 0; i < n; i++) {
		if (error) {
			/* Gives up a request whose partner failed: it has until
			 * now. */
			struct dist__transport *t = coll->transport;

			(void)t->ops->wait(t, requests[i], t->ops->now_ns(t));
		} else
			error = finish(coll, requests[i]);
	}
	return error;
}

/* Receives all of in and sends all of out by a call for each. */
static enum dist_error
exchange_by_calls(const struct dist__coll *coll, const struct dist__message *in,
		  int num_in, const struct dist__message *out, int num_out)
{
	struct dist__transport *t = coll->transport;
	struct dist__request *few[2], **requests = few;
	size_t total = (size_t)num_in + (size_t)num_out;
	enum dist_error error = DIST_OK;
	int n = 0;

	if (total > sizeof few / sizeof few[0])
		requests = malloc(total * sizeof(struct dist__request *));
	if (!requests)
		return DIST_ERR_NO_MEMORY;
	for (int i = 0; i < num_in && !error; i++, n += !error)
		error = t->ops->irecv(t, &in[i], &requests[n]);
	for (int i = 0; i < num_out && !error; i++, n += !error)
		error = t->ops->isend(t, &out[i], &requests[n]);
	error = finish_all(coll, requests, n, error);
	if (requests != few)
		free(requests);
	return error;
}

/* Receives all of in and sends all of out, at the same time. */
static enum dist_error exchange(const struct dist__coll *coll,
				const struct dist__message *in, int num_in,
				const struct dist__message *out, int num_out)
{
	struct dist__transport *t = coll->transport;

	if (!t->ops->exchange)
		return exchange_by_calls(coll, in, num_in, out, num_out);
	return t->ops->exchange(t, in, num_in, out, num_out,
				coll->op->deadline_ns);
}

enum dist_error dist__send(const struct dist__coll *coll, uint32_t step, int to,
			   struct dist__span out)
{
	struct dist__message m = dist__message_of(coll, step, to, out);

	return exchange(coll, NULL, 0, &m, 1);
}

enum dist_error dist__recv(const struct dist__coll *coll, uint32_t step,
			   int from, struct dist__span in)
{
	struct dist__message m = dist__message_of(coll, step, from, in);

	return exchange(coll, &m, 1, NULL, 0);
}

enum dist_error dist__exchange(const struct dist__coll *coll, uint32_t step,
			       int to, struct dist__span out, int from,
			       struct dist__span in)
{
	struct dist__message come = dist__message_of(coll, step, from, in);
	struct dist__message go = dist__message_of(coll, step, to, out);

	return exchange(coll, &come, 1, &go, 1);
}

/* Sends every other rank its part of out (NULL: all of same), and receives its
 * part of in (NULL: nothing), all at the same time. */
static enum dist_error exchange_with_all(const struct dist__coll *coll,
					 const struct dist__parts *out,
					 struct dist__span same,
					 const struct dist__parts *in)
{
	int p = coll->world_size, rank = coll->rank;
	struct dist__message few[FEW_RANKS * 2], *come = few, *go;
	enum dist_error error;

	if (p < 2) /* nobody else */
		return DIST_OK;
	if (p > FEW_RANKS)
		come = malloc(2 * (size_t)p * sizeof *come);
	if (!come)
		return DIST_ERR_NO_MEMORY;
	go = come + p;
	for (int i = 1; i < p; i++) {
		int from = rank - i + (rank < i ? p : 0);
		int to = rank + i - (rank + i < p ? 0 : p);

		if (in)
			come[i - 1] = dist__message_of(
				coll, 0, from, dist__span_part(coll, in, from));
		go[i - 1] = dist__message_of(
			coll, 0, to,
			out ? dist__span_part(coll, out, to) : same);
	}
	error = exchange(coll, in ? come : NULL, in ? p - 1 : 0, go, p - 1);
	if (come != few)
		free(come);
	return error;
}

enum dist_error dist__exchange_all(const struct dist__coll *coll,
				   const struct dist__parts *out,
				   const struct dist__parts *in)
{
	return exchange_with_all(coll, out, (struct dist__span){.data = NULL},
				 in);
}

enum dist_error dist__send_all(const struct dist__coll *coll,
			       struct dist__span out,
			       const struct dist__parts *in)
{
	return exchange_with_all(coll, NULL, out, in);
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
	if (t->ops->simulation)
		t->ops->simulation->charge_reduce(t, acc.bytes);
}

/* ---- messages that are added up ---------------------------------------- */

static bool in_place(const struct dist__addition *addition)
{
	return addition->sum.data == addition->mine.data;
}

/* Makes m the message that is added up, where it stands: what was written in
 * pieces is not soon copied as a whole. */
static void be_term(const struct dist__coll *coll, uint32_t step, int from,
		    const struct dist__addition *addition,
		    struct dist__message *m)
{
	*m = dist__message_of(coll, step, from, addition->sum);
	if (coll->transport->ops->combines) {
		m->mine = addition->mine.data;
		m->dtype = coll->op->tensor.dtype;
		m->reduce_op = coll->op->reduce_op;
	} else if (in_place(addition)) {
		m->data = addition->scratch;
	}
}

/* Adds up the message, unless the transport did. */
static void add(const struct dist__coll *coll,
		const struct dist__addition *addition,
		const struct dist__message *message)
{
	struct dist__span come = {message->data, message->bytes};

	if (coll->transport->ops->combines)
		return;
	if (in_place(addition))
		dist__combine(coll, addition->sum, come);
	else
		dist__combine(coll, come, addition->mine);
}

enum dist_error dist__recv_sum(const struct dist__coll *coll, uint32_t step,
			       int from, const struct dist__addition *addition)
{
	struct dist__message m;
	enum dist_error error;

	be_term(coll, step, from, addition, &m);
	error = exchange(coll, &m, 1, NULL, 0);
	if (!error)
		add(coll, addition, &m);
	return error;
}

enum dist_error dist__exchange_sum(const struct dist__coll *coll, uint32_t step,
				   int to, struct dist__span out, int from,
				   const struct dist__addition *addition)
{
	struct dist__message go = dist__message_of(coll, step, to, out);
	struct dist__message come;
	enum dist_error error;

	be_term(coll, step, from, addition, &come);
	error = exchange(coll, &come, 1, &go, 1);
	if (!error)
		add(coll, addition, &come);
	return error;
}
