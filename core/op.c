#include "core/op.h"

#include <string.h>

static const char *const names[DIST__OP_KINDS] = {
	[DIST__ALL_REDUCE] = "all_reduce",
	[DIST__REDUCE] = "reduce",
	[DIST__BROADCAST] = "broadcast",
	[DIST__BARRIER] = "barrier",
	[DIST__SEND] = "send",
	[DIST__RECV] = "recv",
};

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

void dist__op_finish(struct dist__op *op, enum dist_error error, int64_t now_ns)
{
	op->error = error;
	op->ended_ns = now_ns;
	if (op->on_end)
		op->on_end(op, op->on_end_arg);
	atomic_store_explicit(&op->done, true, memory_order_release);
}
