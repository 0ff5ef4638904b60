/* devices.c - an operation on several devices of each rank: its communicators,
 * and its part for each device. */
#include "realbackend/nccl/devices.h"

#include <stdio.h>
#include <stdlib.h>

/* An operation as one device has it. */
struct dist__view {
	struct dist__op op;
	struct dist__sides sides;
};

/* ---- the communicators ------------------------------------------------- */

static struct dist__devices *devices_new(struct dist__nccl_group *g, size_t num)
{
	struct dist__devices *d = calloc(1, sizeof *d);
	size_t size = (size_t)g->base.members->world_size;

	if (!d)
		return NULL;
	d->num = num;
	d->communicators = calloc(num, sizeof *d->communicators);
	d->requests = calloc(size, sizeof(struct dist__request *));
	if (!d->communicators || !d->requests) {
		free(d->communicators);
		free(d->requests);
		free(d);
		return NULL;
	}
	for (size_t i = 0; i < num; i++) {
		d->communicators[i].device = g->device;
		d->communicators[i].text = &g->base.text;
	}
	d->next = g->devices;
	g->devices = d;
	return d;
}

/* The first rank tells the others where they meet. */
static enum dist_error share_id(struct dist__nccl_group *g,
				struct dist__devices *d,
				const struct dist__op *op)
{
	struct dist__message m = {.tag = -1,
				  .seq = op->seq,
				  .step = DIST__STEP_DEVICES,
				  .fingerprint = op->fingerprint,
				  .data = &d->id,
				  .bytes = sizeof d->id};
	enum dist_error error;

	if (g->base.members->rank > 0)
		return dist__control_receive(&g->base.control, m,
					     &d->requests[0]);
	error = dist__communicator_check(
		&g->communicator, "ncclGetUniqueId",
		g->device->libraries.nccl.GetUniqueId(&d->id));
	for (m.peer = 1; m.peer < g->base.members->world_size && !error;
	     m.peer++)
		error = dist__control_send(&g->base.control, m,
					   &d->requests[m.peer]);
	return error;
}

static bool is_shared(struct dist__nccl_group *g, struct dist__devices *d,
		      enum dist_error *error)
{
	bool shared = true;

	for (int rank = 0; rank < g->base.members->world_size; rank++)
		shared &= dist__control_ended(&g->base.control,
					      &d->requests[rank], error);
	return shared;
}

/* Whether one GPU would be two of the rank's, which this NCCL refuses. */
static bool lacks_gpus(struct dist__nccl_group *g, size_t num)
{
	char advice[DIST__ADVICE_TEXT];

	if (num <= (size_t)g->device->count ||
	    g->device->libraries.nccl_version >= DIST__NCCL_SHARES)
		return false;
	dist__sharing_advise(g->device->libraries.nccl_version, advice,
			     sizeof advice);
	snprintf(g->base.text.text, sizeof g->base.text.text,
		 "a rank with %zu devices has %d GPU%s: %s", num,
		 g->device->count, g->device->count == 1 ? "" : "s", advice);
	return true;
}

/* Begins to make the rank's communicators, in one group. */
static enum dist_error begin(struct dist__nccl_group *g,
			     struct dist__devices *d)
{
	const struct dist__nccl_functions *nccl = &g->device->libraries.nccl;
	int num = (int)d->num, size = g->base.members->world_size * num;
	enum dist_error error, end;

	if (lacks_gpus(g, d->num))
		return DIST_ERR_IO;
	error = dist__communicator_check(&g->communicator, "ncclGroupStart",
					 nccl->GroupStart());
	for (int i = 0; i < num && !error; i++) {
		struct dist__communicator *c = &d->communicators[i];

		c->device = dist__device_of(g->device, num, i, &g->base.text);
		if (!c->device) {
			c->device = g->device;
			error = DIST_ERR_IO;
			break;
		}
		dist__device_use(c->device);
		error = dist__communicator_start(
			c, &d->id, size, g->base.members->rank * num + i);
	}
	dist__device_use(g->device);
	end = dist__communicators_end(d->communicators, d->num);
	return error ? error : end;
}

static bool is_busy(const struct dist__devices *d)
{
	for (size_t i = 0; i < d->num; i++)
		if (d->communicators[i].busy)
			return true;
	return false;
}

static enum dist_error make(struct dist__nccl_group *g, struct dist__devices *d,
			    bool *made)
{
	enum dist_error error = DIST_OK;

	*made = false;
	if (!d->begun) {
		if (!is_shared(g, d, &error) || error)
			return error;
		d->begun = true;
		error = begin(g, d);
	}
	if (!error)
		*made = !is_busy(d);
	return error;
}

/* ---- what each device does --------------------------------------------- */

/* The operation as device i has it: a member's of communicators of one each. */
static void view(struct dist__view *v, const struct dist__op *op, size_t i,
		 int size)
{
	const struct dist__bundle *b = &op->sides->bundle;

	v->op = (struct dist__op){
		.kind = op->kind,
		.reduce_op = op->reduce_op,
		.factor = op->factor,
		.tensor = b->in ? b->in[i] : b->out[i],
		.sides = &v->sides,
		.peer = op->peer < 0 ? -1 : op->peer * (int)b->num + b->chosen,
		.tag = -1,
	};
	if (b->in_lists)
		v->sides.in = (struct dist__parts){.count = size,
						   .list = b->in_lists[i]};
	if (b->out_lists)
		v->sides.out = (struct dist__parts){.count = size,
						    .list = b->out_lists[i]};
}

static enum dist_error give_shares(struct dist__nccl_group *g,
				   struct dist__nccl_task *task,
				   struct dist__devices *d)
{
	int size = g->base.members->world_size * (int)d->num;
	int first = g->base.members->rank * (int)d->num;
	struct dist__share *shares = calloc(d->num, sizeof *shares);

	task->views = calloc(d->num, sizeof *task->views);
	if (!shares || !task->views) {
		free(shares);
		return DIST_ERR_NO_MEMORY;
	}
	for (size_t i = 0; i < d->num; i++) {
		view(&task->views[i], task->base.op, i, size);
		shares[i].op = &task->views[i].op;
		shares[i].communicator = &d->communicators[i];
		shares[i].caller.rank = first + (int)i;
		shares[i].caller.world_size = size;
		shares[i].placement.device = d->communicators[i].device;
	}
	task->shares = shares;
	task->num_shares = d->num;
	return DIST_OK;
}

enum dist_error dist__nccl_devices(struct dist__agreed *base,
				   struct dist__task *task, bool *ready)
{
	struct dist__nccl_group *g = (struct dist__nccl_group *)base;
	size_t num = task->op->sides->bundle.num;
	struct dist__devices *d = g->devices;
	enum dist_error error = DIST_OK;

	*ready = false;
	while (d && d->num != num)
		d = d->next;
	if (!d) {
		d = devices_new(g, num);
		error = d ? share_id(g, d, task->op) : DIST_ERR_NO_MEMORY;
	}
	if (!error)
		error = make(g, d, ready);
	if (error || !*ready)
		return error;
	return give_shares(g, (struct dist__nccl_task *)task, d);
}

/* ---- ending ------------------------------------------------------------ */

void dist__devices_free(struct dist__nccl_group *g)
{
	struct dist__devices *d;

	while ((d = g->devices) != NULL) {
		g->devices = d->next;
		for (int rank = 0; rank < g->base.members->world_size; rank++)
			dist__control_drop(&g->base.control,
					   &d->requests[rank]);
		free(d->communicators);
		free(d->requests);
		free(d);
	}
}
