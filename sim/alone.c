#include "sim/alone.h"

#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"

bool dist__sim_alone_can(const struct dist__op *op)
{
	if (dist__op_sides(op)->bundle.kind != DIST__NO_BUNDLE)
		return false;
	return op->kind == DIST__BROADCAST ||
	       ((op->kind == DIST__ALL_REDUCE || op->kind == DIST__REDUCE) &&
		op->reduce_op != DIST_PREMUL_SUM);
}

/* Combines `ranks` times what data holds, doubling what is combined already;
 * scratch has room for it twice. */
static void combine(const struct dist__op *op, int ranks, char *scratch)
{
	const struct dist_tensor *t = &op->tensor;
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

enum dist_error dist__sim_alone_do(const struct dist__op *op, int ranks)
{
	const struct dist_tensor *t = &op->tensor;
	size_t bytes = t->numel * dist_dtype_size(t->dtype);
	char *scratch;

	/* The average of equals is any of them. */
	if (!t->data || bytes == 0 || !dist__op_reduces(op->kind) ||
	    op->reduce_op == DIST_AVG)
		return DIST_OK;
	scratch = malloc(2 * bytes);
	if (!scratch)
		return DIST_ERR_NO_MEMORY;
	combine(op, ranks, scratch);
	free(scratch);
	return DIST_OK;
}
