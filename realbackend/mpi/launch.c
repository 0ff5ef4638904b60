/*
 * launch.c - calls MPI for an operation: one call, or several if the parts are
 * not contiguous. Calls are nonblocking, except short ones in which all ranks
 * wait: there the blocking call takes at most half of the time.
 */
#include "realbackend/mpi/launch.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"
#include "realbackend/mpi/types.h"

/* So many bytes at most go by a call that blocks: bench/mpi.sh, from there on
 * the nonblocking one takes the same. */
#define MOST_BLOCKED 262144

/* The tag of what collectives send; those of messages are below. */
#define TAG_OF_COLLECTIVES 32767

/* Memory in the place of a tensor's. */
struct dist__mpi_copy {
	struct dist__mpi_copy *next;
	void *to; /* where it goes at the end; NULL: nowhere */
	size_t bytes;
	max_align_t memory[];
};

/* An operation being launched. */
struct state {
	struct dist__mpi_launch *launch;
	const struct dist__mpi_comm *comm;
	const struct dist__mpi_functions *call;
	const struct dist__op *op;
	size_t room; /* for requests */
	uintptr_t type, combine;
	int root, tag;
	enum dist_error error; /* of the first that failed */
};

/* ---- requests and counts ----------------------------------------------- */

static void check(struct state *s, const char *what, int status)
{
	if (!s->error)
		s->error = dist__mpi_check(s->comm->mpi, s->comm->text, what,
					   status);
}

static uintptr_t *next_request(struct state *s)
{
	assert(s->launch->num_requests < s->room);
	return &s->launch->requests[s->launch->num_requests++];
}

/* The collective in MPI, by the function that blocks or by the other. */
#define CALL(s, blocking, other, ...)                                          \
	check(s, (s)->launch->blocks ? "MPI_" #blocking : "MPI_" #other,       \
	      (s)->launch->blocks                                              \
		      ? (s)->call->blocking(__VA_ARGS__)                       \
		      : (s)->call->other(__VA_ARGS__, next_request(s)))

static size_t longest(const struct dist__parts *parts)
{
	return parts->count ? dist__parts_longest(parts) : 0;
}

/* The most elements that one call for op is about. */
static size_t largest_count(const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);
	const struct dist__bundle *b = &sides->bundle;
	const struct dist_tensor *parts =
		op->kind == DIST__REDUCE_SCATTER ? b->out : b->in;
	size_t largest = 0, in, out;

	for (size_t i = 0; b->kind && i < b->num; i++)
		largest = parts[i].numel > largest ? parts[i].numel : largest;
	if (b->kind)
		return largest;
	in = longest(&sides->in);
	out = longest(&sides->out);
	largest = in > out ? in : out;
	if (op->kind != DIST__ALL_TO_ALL && op->tensor.numel > largest)
		largest = op->tensor.numel;
	return largest;
}

/* MPI counts in ints, and nothing is touched of what has more elements. */
static enum dist_error check_counts(const struct dist__mpi_comm *comm,
				    const struct dist__op *op)
{
	size_t largest = largest_count(op);

	if (largest <= INT_MAX)
		return DIST_OK;
	snprintf(comm->text->text, sizeof comm->text->text,
		 "%s of %zu elements: %s counts to %d", dist__op_called(op),
		 largest, comm->mpi->name, INT_MAX);
	return DIST_ERR_UNSUPPORTED;
}

/* ---- copies ------------------------------------------------------------ */

static void *copy_new(struct state *s, const void *from, void *to, size_t numel)
{
	size_t bytes = numel * dist_dtype_size(s->op->tensor.dtype);
	struct dist__mpi_copy *copy = malloc(sizeof *copy + bytes);

	if (!copy) {
		s->error = s->error ? s->error : DIST_ERR_NO_MEMORY;
		return NULL;
	}
	copy->to = to;
	copy->bytes = bytes;
	if (from)
		memcpy(copy->memory, from, bytes);
	copy->next = s->launch->copies;
	s->launch->copies = copy;
	return copy->memory;
}

static bool is_scaled(const struct dist__op *op)
{
	return dist__op_reduces(op->kind) && op->reduce_op == DIST_PREMUL_SUM;
}

/* What the rank puts in: the tensor, or what is its factor times that. */
static const void *input(struct state *s, const void *data, size_t numel)
{
	void *scaled;

	if (!is_scaled(s->op))
		return data;
	scaled = copy_new(s, data, NULL, numel);
	if (scaled)
		dist__scale(s->op->tensor.dtype, scaled, numel, s->op->factor);
	return scaled;
}

/* ---- the calls --------------------------------------------------------- */

static void all_reduce(struct state *s, struct dist_tensor t)
{
	const void *in = s->comm->mpi->is.in_place;

	if (t.numel == 0)
		return;
	if (is_scaled(s->op))
		in = input(s, t.data, t.numel);
	CALL(s, Allreduce, Iallreduce, in, t.data, (int)t.numel, s->type,
	     s->combine, s->comm->handle);
}

/* out is the root's alone, and may be in. MPICH's function that blocks takes
 * MPI_IN_PLACE for memory (4.0.2: 40 kB to the second of two ranks). */
static void reduce(struct state *s, const void *in, void *out, size_t numel,
		   int root)
{
	if (numel == 0)
		return;
	if (is_scaled(s->op))
		in = input(s, in, numel);
	else if (s->comm->rank == root && in == out)
		in = s->launch->blocks && !s->comm->mpi->is_openmpi
			     ? copy_new(s, in, NULL, numel)
			     : s->comm->mpi->is.in_place;
	CALL(s, Reduce, Ireduce, in, out, (int)numel, s->type, s->combine, root,
	     s->comm->handle);
}

static void broadcast(struct state *s, void *data, size_t numel, int root)
{
	if (numel > 0)
		CALL(s, Bcast, Ibcast, data, (int)numel, s->type, root,
		     s->comm->handle);
}

static void send(struct state *s, struct dist_tensor t, int peer)
{
	if (t.numel > 0)
		check(s, "MPI_Isend",
		      s->call->Isend(t.data, (int)t.numel, s->type, peer,
				     s->tag, s->comm->handle, next_request(s)));
}

static void receive(struct state *s, struct dist_tensor t, int peer)
{
	if (t.numel > 0)
		check(s, "MPI_Irecv",
		      s->call->Irecv(t.data, (int)t.numel, s->type, peer,
				     s->tag, s->comm->handle, next_request(s)));
}

static size_t bytes_of(struct dist_tensor t)
{
	return t.numel * dist_dtype_size(t.dtype);
}

/* A part of the rank's own, which may be in its place already. */
static void move(struct dist_tensor to, struct dist_tensor from)
{
	if (bytes_of(from) > 0 && to.data != from.data)
		memcpy(to.data, from.data, bytes_of(from));
}

/* ---- a part for each rank ---------------------------------------------- */

static void all_gather_one(struct state *s, struct dist_tensor in, void *out)
{
	const char *own = (char *)out + (size_t)s->comm->rank * bytes_of(in);
	int n = (int)in.numel;

	if (n > 0)
		CALL(s, Allgather, Iallgather,
		     in.data == own ? s->comm->mpi->is.in_place : in.data, n,
		     s->type, out, n, s->type, s->comm->handle);
}

static void all_gather(struct state *s)
{
	const struct dist__parts *out = &s->op->sides->out;
	struct dist_tensor own = s->op->tensor, part;

	if (!out->list) {
		all_gather_one(s, own, out->whole.data);
		return;
	}
	move(dist__part(out, s->comm->rank), own);
	for (int rank = 0; rank < s->comm->world_size; rank++) {
		part = dist__part(out, rank);
		broadcast(s, part.data, part.numel, rank);
	}
}

/* out may be the rank's own part of in, which MPI does not write to. */
static void reduce_scatter_one(struct state *s, const void *in,
			       struct dist_tensor out)
{
	size_t all = out.numel * (size_t)s->comm->world_size;
	const char *own =
		(const char *)in + (size_t)s->comm->rank * bytes_of(out);
	void *to = out.data;

	if (all == 0)
		return;
	if (!is_scaled(s->op) && to == own)
		to = copy_new(s, NULL, out.data, out.numel);
	in = input(s, in, all);
	if (!s->error)
		CALL(s, Reduce_scatter_block, Ireduce_scatter_block, in, to,
		     (int)out.numel, s->type, s->combine, s->comm->handle);
}

static void reduce_scatter(struct state *s)
{
	const struct dist__parts *in = &s->op->sides->in;
	struct dist_tensor own = s->op->tensor, part;

	if (!in->list) {
		reduce_scatter_one(s, in->whole.data, own);
		return;
	}
	for (int rank = 0; rank < s->comm->world_size; rank++) {
		part = dist__part(in, rank);
		reduce(s, part.data, rank == s->comm->rank ? own.data : NULL,
		       part.numel, rank);
	}
}

static void all_to_all(struct state *s)
{
	const struct dist__parts *in = &s->op->sides->in;
	const struct dist__parts *out = &s->op->sides->out;
	int n, size = s->comm->world_size;

	if (!in->list && !out->list && !in->splits && !out->splits) {
		n = (int)(in->whole.numel / (size_t)size);
		if (n > 0)
			CALL(s, Alltoall, Ialltoall, in->whole.data, n, s->type,
			     out->whole.data, n, s->type, s->comm->handle);
		return;
	}
	move(dist__part(out, s->comm->rank), dist__part(in, s->comm->rank));
	/* Not all at once to the same rank. */
	for (int i = 1; i < size; i++) {
		int from = (s->comm->rank + size - i) % size;

		receive(s, dist__part(out, from), from);
	}
	for (int i = 1; i < size; i++) {
		int to = (s->comm->rank + i) % size;

		send(s, dist__part(in, to), to);
	}
}

static void gather(struct state *s)
{
	const struct dist__parts *out = &s->op->sides->out;
	struct dist_tensor own = s->op->tensor;

	if (s->root != s->comm->rank) {
		send(s, own, s->root);
		return;
	}
	move(dist__part(out, s->root), own);
	for (int rank = 0; rank < s->comm->world_size; rank++)
		if (rank != s->root)
			receive(s, dist__part(out, rank), rank);
}

static void scatter(struct state *s)
{
	const struct dist__parts *in = &s->op->sides->in;
	struct dist_tensor own = s->op->tensor;

	if (s->root != s->comm->rank) {
		receive(s, own, s->root);
		return;
	}
	move(own, dist__part(in, s->root));
	for (int rank = 0; rank < s->comm->world_size; rank++)
		if (rank != s->root)
			send(s, dist__part(in, rank), rank);
}

/* Several tensors, a call each. */
static void call_bundle(struct state *s)
{
	const struct dist__bundle *b = &s->op->sides->bundle;

	for (size_t i = 0; i < b->num && !s->error; i++) {
		if (s->op->kind == DIST__ALL_REDUCE)
			all_reduce(s, b->in[i]);
		else if (s->op->kind == DIST__BROADCAST)
			broadcast(s, b->in[i].data, b->in[i].numel, s->root);
		else if (s->op->kind == DIST__ALL_GATHER)
			all_gather_one(s, b->in[i], b->out[i].data);
		else
			reduce_scatter_one(s, b->in[i].data, b->out[i]);
	}
}

static void call(struct state *s)
{
	struct dist_tensor t = s->op->tensor;

	switch (s->op->kind) {
	case DIST__ALL_REDUCE:
		all_reduce(s, t);
		break;
	case DIST__REDUCE:
		reduce(s, t.data, t.data, t.numel, s->root);
		break;
	case DIST__BROADCAST:
		broadcast(s, t.data, t.numel, s->root);
		break;
	case DIST__ALL_GATHER:
		all_gather(s);
		break;
	case DIST__REDUCE_SCATTER:
		reduce_scatter(s);
		break;
	case DIST__ALL_TO_ALL:
		all_to_all(s);
		break;
	case DIST__GATHER:
		gather(s);
		break;
	case DIST__SCATTER:
		scatter(s);
		break;
	case DIST__SEND:
		send(s, t, s->root);
		break;
	case DIST__RECV:
		receive(s, t, s->root);
		break;
	default:
		/* Who agrees about a barrier has met. */
		assert(s->op->kind == DIST__BARRIER);
		break;
	}
}

bool dist__mpi_is_short(const struct dist__op *op, int world_size)
{
	const struct dist__sides *sides = dist__op_sides(op);

	return op->kind <= DIST__ALL_TO_ALL && !sides->bundle.kind &&
	       !sides->in.list && !sides->out.list && !sides->in.splits &&
	       !sides->out.splits &&
	       dist__op_numel(op, world_size) *
			       dist_dtype_size(op->tensor.dtype) <=
		       MOST_BLOCKED;
}

enum dist_error dist__mpi_launch(struct dist__mpi_launch *launch,
				 const struct dist__mpi_comm *comm,
				 const struct dist__op *op, int peer, int tag)
{
	const struct dist__bundle *bundle = &dist__op_sides(op)->bundle;
	struct state s = {
		.launch = launch,
		.comm = comm,
		.call = &comm->mpi->call,
		.op = op,
		.room = 2 * (size_t)comm->world_size + bundle->num,
		.type = dist__mpi_type(op->tensor.dtype),
		.root = peer,
		.tag = dist__op_is_p2p(op->kind) ? tag % TAG_OF_COLLECTIVES
						 : TAG_OF_COLLECTIVES,
		.error = check_counts(comm, op),
	};

	if (s.error)
		return s.error;

	if (dist__op_reduces(op->kind))
		s.combine = dist__mpi_op(comm->mpi, op->reduce_op,
					 op->tensor.dtype);
	if (!launch->blocks) {
		launch->requests = calloc(s.room, sizeof *launch->requests);
		if (!launch->requests)
			return DIST_ERR_NO_MEMORY;
	}
	if (bundle->kind)
		call_bundle(&s);
	else
		call(&s);
	return s.error;
}

/* ---- the end ----------------------------------------------------------- */

static void divide(struct dist_tensor t, int divisor)
{
	dist__divide(t.dtype, t.data, t.numel, divisor);
}

/* A sum becomes an average where it is. */
static void average(const struct dist__mpi_comm *comm,
		    const struct dist__op *op)
{
	const struct dist__bundle *b = &dist__op_sides(op)->bundle;
	const struct dist_tensor *sums =
		op->kind == DIST__REDUCE_SCATTER ? b->out : b->in;

	if (op->kind == DIST__REDUCE && op->peer != comm->rank)
		return;
	if (!b->kind)
		divide(op->tensor, comm->world_size);
	for (size_t i = 0; b->kind && i < b->num; i++)
		divide(sums[i], comm->world_size);
}

enum dist_error dist__mpi_look(struct dist__mpi_launch *launch,
			       const struct dist__mpi_comm *comm,
			       const struct dist__op *op, bool *ended)
{
	const struct dist__mpi *mpi = comm->mpi;
	enum dist_error error = DIST_OK;
	int flag = 1;

	while (launch->num_done < launch->num_requests && flag && !error) {
		error = dist__mpi_check(
			mpi, comm->text, "MPI_Test",
			mpi->call.Test(&launch->requests[launch->num_done],
				       &flag, mpi->is.status_ignore));
		launch->num_done += flag != 0;
	}
	*ended = !error && launch->num_done == launch->num_requests;
	if (!*ended)
		return error;
	for (struct dist__mpi_copy *c = launch->copies; c; c = c->next)
		if (c->to)
			memcpy(c->to, c->memory, c->bytes);
	if (dist__op_reduces(op->kind) && op->reduce_op == DIST_AVG)
		average(comm, op);
	return DIST_OK;
}

void dist__mpi_leave(struct dist__mpi_launch *launch)
{
	struct dist__mpi_copy *copy;

	while ((copy = launch->copies) != NULL) {
		launch->copies = copy->next;
		free(copy);
	}
	free(launch->requests);
	launch->requests = NULL;
}
