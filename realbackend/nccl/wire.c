/*
 * wire.c - the wire of a message, and the message's number on it: both ends
 * launch in the order of these numbers.
 */
#include "realbackend/nccl/group.h"

#include <stdlib.h>
#include <string.h>

static struct dist__nccl_task *of(struct dist__task *task)
{
	return (struct dist__nccl_task *)task;
}

/* Puts task on the wire to or from its peer. */
static enum dist_error take_wire(struct dist__nccl_group *g,
				 struct dist__task *base)
{
	struct dist__nccl_task *task = of(base);
	bool inbound = base->op->kind == DIST__RECV;
	struct dist__wire **place = &g->wires[2 * base->peer + inbound];

	if (!*place) {
		*place = calloc(1, sizeof **place);
		if (!*place)
			return DIST_ERR_NO_MEMORY;
		(*place)->communicator.device = g->device;
		(*place)->communicator.text = &g->base.text;
	}
	task->wire = *place;
	task->only.communicator = &task->wire->communicator;
	return DIST_OK;
}

enum dist_error dist__nccl_grant(struct dist__agreed *base,
				 struct dist__task *task)
{
	struct dist__nccl_group *g = (struct dist__nccl_group *)base;
	enum dist_error error = take_wire(g, task);
	struct dist__wire *wire = of(task)->wire;

	if (!error && !wire->begun)
		error = dist__communicator_check(
			&wire->communicator, "ncclGetUniqueId",
			g->device->libraries.nccl.GetUniqueId(&wire->id));
	if (error)
		return error;
	task->grant.number = wire->granted++;
	memcpy(task->grant.more, &wire->id, sizeof wire->id);
	return DIST_OK;
}

/* Makes the communicator of a wire at its first message. */
enum dist_error dist__nccl_granted(struct dist__agreed *g,
				   struct dist__task *task)
{
	int rank = task->op->kind == DIST__RECV ? 0 : 1;
	enum dist_error error = DIST_OK;
	struct dist__nccl_id id;
	struct dist__wire *wire;

	if (rank == 1)
		error = take_wire((struct dist__nccl_group *)g, task);
	wire = of(task)->wire;
	if (error || wire->begun)
		return error;
	wire->begun = true;
	memcpy(&id, task->grant.more, sizeof id);
	return dist__communicator_start(&wire->communicator, &id, 2, rank);
}
