#include "core/op.h"

#include <string.h>

static const char *const names[DIST__OP_KINDS] = {
	[DIST__ALL_REDUCE] = "all_reduce",
	[DIST__REDUCE] = "reduce",
	[DIST__BROADCAST] = "broadcast",
	[DIST__BARRIER] = "barrier",
	[DIST__MONITORED_BARRIER] = "monitored_barrier",
	[DIST__ALL_GATHER] = "all_gather",
	[DIST__REDUCE_SCATTER] = "reduce_scatter",
	[DIST__ALL_TO_ALL] = "all_to_all",
	[DIST__GATHER] = "gather",
	[DIST__SCATTER] = "scatter",
	[DIST__SEND] = "send",
	[DIST__RECV] = "recv",
};

const struct dist__sides dist__no_sides = {.bundle = {DIST__NO_BUNDLE}};

const char *dist__op_name(enum dist__op_kind kind)
{
	return (unsigned)kind < DIST__OP_KINDS ? names[kind] : "?";
}

enum dist__op_kind dist__op_from_name(const char *name)
{
	int kind;

	for (kind = 0; kind < DIST__OP_KINDS; kind++)
		if (strcmp(names[kind], name) == 0)
			break;
	return (enum dist__op_kind)kind;
}

size_t dist__op_numel(const struct dist__op *op, int world_size)
{
	switch (op->kind) {
	case DIST__ALL_GATHER:
		return dist__parts_before(&op->sides->out,
					  op->sides->out.count);
	case DIST__REDUCE_SCATTER:
	case DIST__ALL_TO_ALL:
		return dist__parts_before(&op->sides->in, op->sides->in.count);
	case DIST__GATHER:
	case DIST__SCATTER:
		return op->tensor.numel * (size_t)world_size;
	default:
		return op->tensor.numel;
	}
}

void dist__op_finish(struct dist__op *op, enum dist_error error, int64_t now_ns)
{
	op->error = error;
	op->ended_ns = now_ns;
	if (op->on_end)
		op->on_end(op, op->on_end_arg);
	atomic_store_explicit(&op->done, true, memory_order_release);
}
