#include "realbackend/nccl/launch.h"

#include <assert.h>

#include "base/half.h"

/* One call of NCCL, or several in a group. */
struct launch {
	struct dist__communicator *c;
	const struct dist__libraries *l;
	const struct dist__caller *caller;
	const struct dist__placement *placed;
	unsigned type, op;
	size_t units; /* of that type in an element */
	bool made;    /* op is ours to destroy */
	int peer;
	enum dist_error error; /* of the first call that failed */
};

static void check(struct launch *launch, const char *what, unsigned status)
{
	if (!launch->error)
		launch->error =
			dist__communicator_check(launch->c, what, status);
}

/* ---- types and operations ---------------------------------------------- */

/* What it has no type for travels as one that it has, several to an element:
 * complex numbers as the floats that they are made of, also in a sum; what is
 * only moved as bytes. */
static unsigned type_of(enum dist_dtype dtype)
{
	static const uint8_t types[DIST_NUM_DTYPES] = {
		[DIST_FLOAT16] = DIST__NCCL_FLOAT16,
		[DIST_BFLOAT16] = DIST__NCCL_BFLOAT16,
		[DIST_FLOAT32] = DIST__NCCL_FLOAT32,
		[DIST_FLOAT64] = DIST__NCCL_FLOAT64,
		[DIST_INT8] = DIST__NCCL_INT8,
		[DIST_UINT8] = DIST__NCCL_UINT8,
		[DIST_INT32] = DIST__NCCL_INT32,
		[DIST_INT64] = DIST__NCCL_INT64,
		[DIST_BOOL] = DIST__NCCL_UINT8,
		[DIST_INT16] = DIST__NCCL_UINT8,
		[DIST_UINT16] = DIST__NCCL_UINT8,
		[DIST_UINT32] = DIST__NCCL_UINT32,
		[DIST_UINT64] = DIST__NCCL_UINT64,
		[DIST_FLOAT8_E4M3FN] = DIST__NCCL_UINT8,
		[DIST_FLOAT8_E5M2] = DIST__NCCL_UINT8,
		[DIST_COMPLEX64] = DIST__NCCL_FLOAT32,
		[DIST_COMPLEX128] = DIST__NCCL_FLOAT64,
	};

	return types[dtype];
}

static size_t units_of(enum dist_dtype dtype)
{
	switch (dtype) {
	case DIST_INT16:
	case DIST_UINT16:
	case DIST_COMPLEX64:
	case DIST_COMPLEX128:
		return 2;
	default:
		return 1;
	}
}

bool dist__launch_reduces(enum dist_reduce_op op, enum dist_dtype dtype)
{
	if (dtype == DIST_INT16 || dtype == DIST_UINT16)
		return false;
	return op <= DIST_MAX || op == DIST_PREMUL_SUM;
}

/* Bools are bytes of 0 or 1: their sum is the greater, their product the less
 * of them. */
static unsigned op_of(enum dist_reduce_op op, enum dist_dtype dtype)
{
	bool truth = dtype == DIST_BOOL;

	switch (op) {
	case DIST_AVG:
		return DIST__NCCL_AVG;
	case DIST_PRODUCT:
		return truth ? DIST__NCCL_MIN : DIST__NCCL_PROD;
	case DIST_MIN:
		return DIST__NCCL_MIN;
	case DIST_MAX:
		return DIST__NCCL_MAX;
	default:
		return truth ? DIST__NCCL_MAX : DIST__NCCL_SUM;
	}
}

/* ---- the calls --------------------------------------------------------- */

static void all_reduce(struct launch *l, void *data, size_t numel)
{
	if (numel > 0)
		check(l, "ncclAllReduce",
		      l->l->nccl.AllReduce(data, data, numel * l->units,
					   l->type, l->op, l->c->handle,
					   l->c->stream));
}

static void reduce(struct launch *l, const void *in, void *out, size_t numel,
		   int root)
{
	if (numel > 0)
		check(l, "ncclReduce",
		      l->l->nccl.Reduce(in, out, numel * l->units, l->type,
					l->op, root, l->c->handle,
					l->c->stream));
}

static void broadcast(struct launch *l, const void *in, void *out, size_t numel,
		      int root)
{
	if (numel > 0)
		check(l, "ncclBroadcast",
		      l->l->nccl.Broadcast(in, out, numel * l->units, l->type,
					   root, l->c->handle, l->c->stream));
}

static void send(struct launch *l, struct dist_tensor tensor, int peer)
{
	if (tensor.numel > 0)
		check(l, "ncclSend",
		      l->l->nccl.Send(tensor.data, tensor.numel * l->units,
				      l->type, peer, l->c->handle,
				      l->c->stream));
}

static void receive(struct launch *l, struct dist_tensor tensor, int peer)
{
	if (tensor.numel > 0)
		check(l, "ncclRecv",
		      l->l->nccl.Recv(tensor.data, tensor.numel * l->units,
				      l->type, peer, l->c->handle,
				      l->c->stream));
}

static void all_gather_one(struct launch *l, struct dist_tensor in, void *out)
{
	if (in.numel > 0)
		check(l, "ncclAllGather",
		      l->l->nccl.AllGather(in.data, out, in.numel * l->units,
					   l->type, l->c->handle,
					   l->c->stream));
}

static void reduce_scatter_one(struct launch *l, const void *in,
			       struct dist_tensor out)
{
	if (out.numel > 0)
		check(l, "ncclReduceScatter",
		      l->l->nccl.ReduceScatter(
			      in, out.data, out.numel * l->units, l->type,
			      l->op, l->c->handle, l->c->stream));
}

/* ---- a part for each rank ---------------------------------------------- */

static void all_gather(struct launch *l)
{
	const struct dist__parts *out = &l->placed->sides.out;
	struct dist_tensor own = l->placed->tensor;

	if (!out->list) {
		all_gather_one(l, own, out->whole.data);
		return;
	}
	for (int rank = 0; rank < l->caller->world_size; rank++) {
		struct dist_tensor part = dist__part(out, rank);
		bool mine = rank == l->caller->rank;

		broadcast(l, mine ? own.data : part.data, part.data, part.numel,
			  rank);
	}
}

static void reduce_scatter(struct launch *l)
{
	const struct dist__parts *in = &l->placed->sides.in;
	struct dist_tensor own = l->placed->tensor;

	if (!in->list) {
		reduce_scatter_one(l, in->whole.data, own);
		return;
	}
	for (int rank = 0; rank < l->caller->world_size; rank++) {
		struct dist_tensor part = dist__part(in, rank);
		bool mine = rank == l->caller->rank;

		reduce(l, part.data, mine ? own.data : NULL, part.numel, rank);
	}
}

static void all_to_all(struct launch *l)
{
	for (int rank = 0; rank < l->caller->world_size; rank++) {
		send(l, dist__part(&l->placed->sides.in, rank), rank);
		receive(l, dist__part(&l->placed->sides.out, rank), rank);
	}
}

/* The root sends to itself too, unless the part is in its place already. */
static void gather(struct launch *l)
{
	struct dist_tensor own = l->placed->tensor;
	bool root = l->peer == l->caller->rank;
	bool there = root && dist__part(&l->placed->sides.out, l->peer).data ==
				     own.data;

	if (!there)
		send(l, own, l->peer);
	for (int rank = 0; root && rank < l->caller->world_size; rank++)
		if (rank != l->peer || !there)
			receive(l, dist__part(&l->placed->sides.out, rank),
				rank);
}

static void scatter(struct launch *l)
{
	struct dist_tensor own = l->placed->tensor;
	bool root = l->peer == l->caller->rank;
	bool there = root &&
		     dist__part(&l->placed->sides.in, l->peer).data == own.data;

	for (int rank = 0; root && rank < l->caller->world_size; rank++)
		if (rank != l->peer || !there)
			send(l, dist__part(&l->placed->sides.in, rank), rank);
	if (!there)
		receive(l, own, l->peer);
}

static void barrier(struct launch *l)
{
	l->type = DIST__NCCL_INT32;
	l->units = 1;
	l->op = DIST__NCCL_SUM;
	all_reduce(l, l->caller->scratch, 1);
}

/* Several tensors, a call each. */
static void call_bundle(struct launch *l, enum dist__op_kind kind)
{
	const struct dist__bundle *b = &l->placed->sides.bundle;

	for (size_t i = 0; i < b->num; i++) {
		if (kind == DIST__ALL_REDUCE)
			all_reduce(l, b->in[i].data, b->in[i].numel);
		else if (kind == DIST__BROADCAST)
			broadcast(l, b->in[i].data, b->in[i].data,
				  b->in[i].numel, l->peer);
		else if (kind == DIST__ALL_GATHER)
			all_gather_one(l, b->in[i], b->out[i].data);
		else
			reduce_scatter_one(l, b->in[i].data, b->out[i]);
	}
}

static void call(struct launch *l, enum dist__op_kind kind)
{
	struct dist_tensor t = l->placed->tensor;

	switch (kind) {
	case DIST__ALL_REDUCE:
		all_reduce(l, t.data, t.numel);
		break;
	case DIST__REDUCE:
		reduce(l, t.data, t.data, t.numel, l->peer);
		break;
	case DIST__BROADCAST:
		broadcast(l, t.data, t.data, t.numel, l->peer);
		break;
	case DIST__BARRIER:
		barrier(l);
		break;
	case DIST__ALL_GATHER:
		all_gather(l);
		break;
	case DIST__REDUCE_SCATTER:
		reduce_scatter(l);
		break;
	case DIST__ALL_TO_ALL:
		all_to_all(l);
		break;
	case DIST__GATHER:
		gather(l);
		break;
	case DIST__SCATTER:
		scatter(l);
		break;
	case DIST__SEND:
		send(l, t, l->peer);
		break;
	case DIST__RECV:
		receive(l, t, l->peer);
		break;
	default:
		assert(!"an operation of NCCL's");
		break;
	}
}

/* ---- a factor ---------------------------------------------------------- */

/* A number of any float type. */
union scalar {
	uint16_t half;
	float single;
	double full;
};

static union scalar scalar_of(enum dist_dtype dtype, double value)
{
	union scalar scalar = {.full = value};

	if (dtype == DIST_FLOAT16)
		scalar.half = dist__float16_from_float((float)value);
	else if (dtype == DIST_BFLOAT16)
		scalar.half = dist__bfloat16_from_float((float)value);
	else if (dtype == DIST_FLOAT32 || dtype == DIST_COMPLEX64)
		scalar.single = (float)value;
	return scalar;
}

/* A sum with a factor is a reduce op that the communicator makes for it. */
static void make_op(struct launch *l, const struct dist__op *op)
{
	union scalar factor = scalar_of(op->tensor.dtype, op->factor);

	l->op = op_of(op->reduce_op, op->tensor.dtype);
	if (!dist__op_reduces(op->kind) || op->reduce_op != DIST_PREMUL_SUM)
		return;
	check(l, "ncclRedOpCreatePreMulSum",
	      l->l->nccl.RedOpCreatePreMulSum(&l->op, &factor, l->type,
					      DIST__NCCL_SCALAR_HOST_IMMEDIATE,
					      l->c->handle));
	l->made = !l->error;
}

enum dist_error dist__launch(struct dist__communicator *c,
			     const struct dist__caller *caller,
			     const struct dist__op *op, int peer,
			     const struct dist__placement *s)
{
	struct launch l = {
		.c = c,
		.l = &c->device->libraries,
		.caller = caller,
		.placed = s,
		.type = type_of(op->tensor.dtype),
		.units = units_of(op->tensor.dtype),
		.peer = peer,
	};

	make_op(&l, op);
	if (l.error)
		return l.error;
	check(&l, "ncclGroupStart", l.l->nccl.GroupStart());
	if (s->sides.bundle.kind)
		call_bundle(&l, op->kind);
	else
		call(&l, op->kind);
	if (l.made)
		check(&l, "ncclRedOpDestroy",
		      l.l->nccl.RedOpDestroy(l.op, c->handle));
	check(&l, "ncclGroupEnd", l.l->nccl.GroupEnd());
	return l.error;
}
