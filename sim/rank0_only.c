#include "sim/rank0_only.h"

#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"

bool dist__sim_rank0_only_can(const struct dist__op *op)
{
	if (dist__op_sides(op)->bundle.kind == DIST__DEVICES)
		return false;
	return !dist__op_is_p2p(op->kind) &&
	       op->kind != DIST__MONITORED_BARRIER &&
	       (!dist__op_reduces(op->kind) ||
		op->reduce_op != DIST_PREMUL_SUM);
}

/* Combines `ranks` times what data holds, doubling what is combined already;
 * scratch has room for it twice. */
static void combine(const struct dist__op *op, const struct dist_tensor *t,
		    int ranks, char *scratch)
{
	size_t bytes = t->numel * dist_dtype_size(t->dtype);
	char *doubled = scratch, *copy = scratch + bytes;

	memcpy(doubled, t->data, bytes);
	for (int left = ranks - 1; left > 0; left /= 2) {
		if (left % 2)
			dist__reduce(t->dtype, op->reduce_op, t->data, doubled,
				     t->numel);
		memcpy(copy, doubled, bytes);
		dist__reduce(t->dtype, op->reduce_op, doubled, copy, t->numel);
	}
}

/* Makes of what a rank has that of all together. */
static enum dist_error combine_all(const struct dist__op *op,
				   const struct dist_tensor *t, int ranks)
{
	size_t bytes = t->numel * dist_dtype_size(t->dtype);
	char *scratch;

	/* The average of equals is any of them. */
	if (!t->data || bytes == 0 || op->reduce_op == DIST_AVG)
		return DIST_OK;
	scratch = malloc(2 * bytes);
	if (!scratch)
		return DIST_ERR_NO_MEMORY;
	combine(op, t, ranks, scratch);
	free(scratch);
	return DIST_OK;
}

static void copy(struct dist_tensor to, struct dist_tensor from)
{
	size_t numel = to.numel < from.numel ? to.numel : from.numel;

	if (to.data && from.data)
		memmove(to.data, from.data, numel * dist_dtype_size(to.dtype));
}

/* Every part of out is what each rank has for this one. */
static void spread(const struct dist__parts *out, struct dist_tensor from)
{
	for (int i = 0; i < out->count; i++)
		copy(dist__part(out, i), from);
}

static enum dist_error do_one(const struct dist__op *op,
			      const struct dist__sides *sides, int rank,
			      int ranks)
{
	const struct dist__parts *in = &sides->in;

	switch (op->kind) {
	case DIST__ALL_REDUCE:
	case DIST__REDUCE:
		return combine_all(op, &op->tensor, ranks);
	case DIST__REDUCE_SCATTER:
		copy(op->tensor, dist__part(in, rank));
		return combine_all(op, &op->tensor, ranks);
	case DIST__ALL_GATHER:
	case DIST__GATHER:
		spread(&sides->out, op->tensor);
		break;
	case DIST__ALL_TO_ALL:
		spread(&sides->out, dist__part(in, rank));
		break;
	case DIST__SCATTER:
		if (in->count > 0)
			copy(op->tensor, dist__part(in, rank));
		break;
	default:
		break;
	}
	return DIST_OK;
}

/* One of several operations that are done as one. */
static enum dist_error do_nth(const struct dist__op *op, size_t n, int rank,
			      int ranks)
{
	const struct dist__bundle *bundle = &op->sides->bundle;
	struct dist__parts none = {.count = 0}, parts = none;
	struct dist__sides sides = {.in = none};
	struct dist__op one = *op;
	bool gathers = op->kind == DIST__ALL_GATHER;

	parts.count = ranks;
	one.tensor = bundle->in[n];
	if (bundle->out && gathers) {
		parts.whole = bundle->out[n];
		sides.out = parts;
	} else if (bundle->out) {
		parts.whole = bundle->in[n];
		sides.in = parts;
		one.tensor = bundle->out[n];
	}
	return do_one(&one, &sides, rank, ranks);
}

enum dist_error dist__sim_rank0_only_do(const struct dist__op *op, int rank,
					int ranks)
{
	const struct dist__sides *sides = dist__op_sides(op);
	enum dist_error error = DIST_OK;

	if (!sides->bundle.kind)
		return do_one(op, sides, rank, ranks);
	for (size_t i = 0; i < sides->bundle.num && !error; i++)
		error = do_nth(op, i, rank, ranks);
	return error;
}
