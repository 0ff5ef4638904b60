/*
 * stage.c - the memory of a staged operation, and the copies to and from it.
 *
 * The side with one tensor a rank is one run of memory: for a coalesced op, and
 * for one that gathers from or scatters to devices, a piece for each tensor of
 * the list; for one in which all devices share a piece, that piece. The other
 * side, if there is one, has such a run for each rank, in order.
 *
 *	2 ranks, coalesced all-gather of a (2 elements) and b (1):
 *	in   a a b              out   a0 a0 b0 | a1 a1 b1
 *
 * A piece belongs to one tensor of the caller, or to one on each device: these
 * are combined on the way in, and all are written on the way out.
 */
#include "coll/stage.h"

#include <stdlib.h>

#include "coll/pattern.h"
#include "core/reduce.h"

/* Piece i of a run, of rank in the other side: where it is staged, and the
 * caller's tensor on device d. */
struct piece {
	struct dist_tensor staged;
	size_t i;
	int rank; /* -1: of what the rank has one of */
};

static struct dist__span span(struct dist_tensor t)
{
	return (struct dist__span){t.data, t.numel * dist_dtype_size(t.dtype)};
}

/* The numel elements of t from first on. */
static struct dist_tensor cut(struct dist_tensor t, size_t first, size_t numel)
{
	t.numel = numel;
	if (t.data)
		t.data = (char *)t.data + first * dist_dtype_size(t.dtype);
	return t;
}

/* Devices share in one piece, rather than having one each. */
static bool is_shared(const struct dist__op *op)
{
	return op->sides->bundle.kind == DIST__DEVICES &&
	       op->kind < DIST__ALL_GATHER;
}

/* What the rank has one of, of each tensor or device. */
static const struct dist_tensor *ones(const struct dist__op *op)
{
	return op->kind == DIST__REDUCE_SCATTER ? op->sides->bundle.out
						: op->sides->bundle.in;
}

/* How many tensors of the caller's a piece stands for. */
static size_t copies(const struct dist__op *op, const struct piece *piece)
{
	const struct dist__bundle *b = &op->sides->bundle;
	bool many =
		b->kind == DIST__DEVICES && (piece->rank >= 0 || is_shared(op));

	return many ? b->num : 1;
}

static struct dist_tensor tensor_of(const struct dist__op *op,
				    const struct piece *piece, size_t d)
{
	const struct dist__bundle *b = &op->sides->bundle;
	bool gathers = op->kind == DIST__ALL_GATHER;
	size_t rank = (size_t)piece->rank;

	if (piece->rank < 0)
		return ones(op)[is_shared(op) ? d : piece->i];
	if (b->kind == DIST__DEVICES)
		return (gathers ? b->out_lists
				: b->in_lists)[d][rank * b->num + piece->i];
	return cut((gathers ? b->out : b->in)[piece->i],
		   rank * piece->staged.numel, piece->staged.numel);
}

/* ---- there and back ---------------------------------------------------- */

/* Multiplies what the rank puts in; that takes as long as reducing it. */
static void scale(const struct dist__coll *coll, struct dist_tensor t)
{
	struct dist__transport *transport = coll->transport;

	if (coll->op->reduce_op != DIST_PREMUL_SUM)
		return;
	if (t.data)
		dist__scale(t.dtype, t.data, t.numel, coll->op->factor);
	if (transport->ops->simulation)
		transport->ops->simulation->charge_reduce(transport,
							  span(t).bytes);
}

static void put(const struct dist__stage *stage, const struct piece *piece)
{
	const struct dist__coll *coll = stage->coll;
	size_t first = 0, n = copies(coll->op, piece);
	struct dist_tensor more = cut(stage->spare, 0, piece->staged.numel);

	if (coll->op->kind == DIST__BROADCAST && n > 1) {
		first = (size_t)coll->op->sides->bundle.chosen;
		n = first + 1;
	}
	dist__copy(span(piece->staged),
		   span(tensor_of(coll->op, piece, first)));
	scale(coll, piece->staged);
	for (size_t d = first + 1; d < n; d++) {
		dist__copy(span(more), span(tensor_of(coll->op, piece, d)));
		scale(coll, more);
		dist__combine(coll, span(piece->staged), span(more));
	}
}

static void take(const struct dist__stage *stage, const struct piece *piece)
{
	const struct dist__op *op = stage->coll->op;
	size_t first = 0, n = copies(op, piece);

	if (op->kind == DIST__REDUCE) {
		first = (size_t)op->sides->bundle.chosen;
		n = op->peer == stage->coll->rank ? first + 1 : first;
	}
	for (size_t d = first; d < n; d++)
		dist__copy(span(tensor_of(op, piece, d)), span(piece->staged));
}

/* Calls move for each piece of run. */
static void each_piece(const struct dist__stage *stage, struct dist_tensor run,
		       int rank,
		       void (*move)(const struct dist__stage *stage,
				    const struct piece *piece))
{
	const struct dist__op *op = stage->coll->op;
	struct piece piece = {.staged = run, .rank = rank};
	size_t first = 0;

	if (is_shared(op)) {
		move(stage, &piece);
		return;
	}
	for (; piece.i < op->sides->bundle.num; piece.i++) {
		piece.staged = cut(run, first, ones(op)[piece.i].numel);
		move(stage, &piece);
		first += piece.staged.numel;
	}
}

static void each_run(const struct dist__stage *stage,
		     const struct dist__parts *parts,
		     void (*move)(const struct dist__stage *stage,
				  const struct piece *piece))
{
	for (int rank = 0; rank < parts->count; rank++)
		each_piece(stage, dist__part(parts, rank), rank, move);
}

/* ---- staging ----------------------------------------------------------- */

bool dist__stage_needed(const struct dist__op *op)
{
	return dist__op_sides(op)->bundle.kind ||
	       (dist__op_reduces(op->kind) && op->reduce_op == DIST_PREMUL_SUM);
}

int dist__contributors(const struct dist__coll *coll)
{
	const struct dist__bundle *b = &dist__op_sides(coll->op)->bundle;

	return coll->world_size * (b->kind == DIST__DEVICES ? (int)b->num : 1);
}

/* A factor alone: what may be written to is multiplied where it lies. */
static enum dist_error stage_factor(struct dist__stage *stage)
{
	struct dist__parts *in = &stage->sides.in;
	struct dist__packed packed;
	enum dist_error error;

	if (stage->op.kind != DIST__REDUCE_SCATTER) {
		scale(stage->coll, stage->op.tensor);
		return DIST_OK;
	}
	error = dist__packed_new(stage->coll, in, &packed);
	if (error)
		return error;
	dist__parts_copy(stage->coll, &packed.parts, in);
	scale(stage->coll, packed.parts.whole);
	*in = packed.parts;
	stage->memory = packed.scratch;
	return DIST_OK;
}

/* Gives t the next elements of the memory at *free. */
static void place(struct dist_tensor *t, char **free)
{
	t->data = *free;
	if (*free)
		*free += span(*t).bytes;
}

/* Room for the run of the rank, those of the other side, and a piece. */
static enum dist_error stage_memory(struct dist__stage *stage)
{
	struct dist_tensor *tensor = &stage->op.tensor;
	struct dist_tensor *in = &stage->sides.in.whole;
	struct dist_tensor *out = &stage->sides.out.whole;
	enum dist_error error;
	char *free;

	stage->spare = *tensor;
	error = dist__scratch_new(stage->coll,
				  2 * span(*tensor).bytes + span(*in).bytes +
					  span(*out).bytes,
				  &stage->memory);
	if (error)
		return error;
	free = stage->memory;
	place(tensor, &free);
	place(in, &free);
	place(out, &free);
	place(&stage->spare, &free);
	return DIST_OK;
}

enum dist_error dist__stage_in(struct dist__stage *stage,
			       const struct dist__coll *coll)
{
	bool scatters = coll->op->kind == DIST__REDUCE_SCATTER;
	enum dist_error error;

	*stage = (struct dist__stage){.coll = coll,
				      .op = *coll->op,
				      .sides = *dist__op_sides(coll->op)};
	stage->op.sides = &stage->sides;
	if (!stage->sides.bundle.kind)
		return stage_factor(stage);
	error = stage_memory(stage);
	if (!error && scatters)
		each_run(stage, &stage->sides.in, put);
	else if (!error)
		each_piece(stage, stage->op.tensor, -1, put);
	return error;
}

void dist__stage_out(const struct dist__stage *stage)
{
	if (!stage->sides.bundle.kind)
		return;
	if (stage->op.kind == DIST__ALL_GATHER)
		each_run(stage, &stage->sides.out, take);
	else
		each_piece(stage, stage->op.tensor, -1, take);
}

void dist__stage_release(struct dist__stage *stage)
{
	free(stage->memory);
}
