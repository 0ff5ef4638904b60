/* group.c - the communicators of a group on NCCL, from creation to the end.
 */
#include "realbackend/nccl/group.h"

#include <stdio.h>
#include <stdlib.h>

#include "realbackend/agree/backoff.h"
#include "realbackend/nccl/devices.h"

/* ---- the communicators ------------------------------------------------- */

/* A process is one rank, which has one default group. */
static struct dist__nccl_group *root;

static int num_wires(const struct dist__nccl_group *g)
{
	return g->wires ? 2 * g->base.members->world_size : 0;
}

static int num_communicators(const struct dist__nccl_group *g)
{
	int num = 1 + num_wires(g) + g->num_inherited;

	for (const struct dist__devices *d = g->devices; d; d = d->next)
		num += (int)d->num;
	return num;
}

static struct dist__communicator *device_at(struct dist__nccl_group *g, int i)
{
	struct dist__devices *d = g->devices;

	for (; i >= (int)d->num; d = d->next)
		i -= (int)d->num;
	return &d->communicators[i];
}

/* Communicator i of all that there may be, NULL: it was not begun. */
static struct dist__communicator *communicator_at(struct dist__nccl_group *g,
						  int i)
{
	struct dist__communicator *c = &g->communicator;

	if (i > num_wires(g) + g->num_inherited)
		c = device_at(g, i - 1 - num_wires(g) - g->num_inherited);
	else if (i > num_wires(g))
		c = &g->inherited[i - 1 - num_wires(g)];
	else if (i > 0)
		c = g->wires[i - 1] ? &g->wires[i - 1]->communicator : NULL;
	return c && c->stream ? c : NULL;
}

/* Calls visit for each that was begun, until one fails. */
static enum dist_error
each_communicator(struct dist__nccl_group *g,
		  enum dist_error (*visit)(struct dist__communicator *c))
{
	enum dist_error error = DIST_OK;

	for (int i = 0; i < num_communicators(g) && !error; i++)
		if (communicator_at(g, i))
			error = visit(communicator_at(g, i));
	return error;
}

/* Frees each, having it flushed or not. */
static void release_all(struct dist__nccl_group *g,
			void (*release)(struct dist__communicator *c))
{
	for (int i = 0; i < num_communicators(g); i++)
		if (communicator_at(g, i))
			release(communicator_at(g, i));
}

enum dist_error dist__nccl_poll(struct dist__agreed *g)
{
	return each_communicator((struct dist__nccl_group *)g,
				 dist__communicator_poll);
}

void dist__nccl_abort(struct dist__agreed *g)
{
	release_all((struct dist__nccl_group *)g, dist__communicator_abort);
}

/* ---- beginning --------------------------------------------------------- */

static struct dist__message control_message(uint32_t step, int peer)
{
	return (struct dist__message){.peer = peer,
				      .tag = -1,
				      .seq = DIST__CONTROL_SEQ,
				      .step = step};
}

/* Waits for the requests, which stand where the watches will. */
static enum dist_error settle(struct dist__nccl_group *g, enum dist_error error,
			      int64_t deadline_ns)
{
	struct dist__transport *t = g->base.control.transport;
	enum dist_error end;

	for (int rank = 0; rank < g->base.members->world_size; rank++) {
		if (!g->base.watches[rank])
			continue;
		end = t->ops->wait(t, g->base.watches[rank],
				   error ? 0 : deadline_ns);
		g->base.watches[rank] = NULL;
		error = error ? error : end;
	}
	return error;
}

/* What the first rank tells the others: where they meet, and who has one GPU.
 */
struct invitation {
	struct dist__nccl_id id;
	struct dist__sharers sharers;
};

/* The first rank hears which GPU each has. */
static enum dist_error hear_gpus(struct dist__nccl_group *g,
				 struct dist__cuda_uuid *gpus,
				 int64_t deadline_ns)
{
	struct dist__message m = control_message(DIST__STEP_GPU, 1);
	enum dist_error error = DIST_OK;

	m.bytes = sizeof *gpus;
	gpus[0] = g->device->gpu;
	for (; m.peer < g->base.members->world_size && !error; m.peer++) {
		m.data = &gpus[m.peer];
		error = dist__control_receive(&g->base.control, m,
					      &g->base.watches[m.peer]);
	}
	return settle(g, error, deadline_ns);
}

static enum dist_error invite(struct dist__nccl_group *g,
			      struct invitation *invitation,
			      int64_t deadline_ns)
{
	int size = g->base.members->world_size;
	struct dist__message m = control_message(DIST__STEP_ID, 1);
	struct dist__cuda_uuid *gpus = calloc((size_t)size, sizeof *gpus);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	m.data = invitation;
	m.bytes = sizeof *invitation;
	if (gpus)
		error = hear_gpus(g, gpus, deadline_ns);
	if (!error) {
		invitation->sharers = dist__sharers_find(gpus, size);
		error = dist__communicator_check(
			&g->communicator, "ncclGetUniqueId",
			g->device->libraries.nccl.GetUniqueId(&invitation->id));
	}
	free(gpus);
	for (; m.peer < size && !error; m.peer++)
		error = dist__control_send(&g->base.control, m,
					   &g->base.watches[m.peer]);
	return settle(g, error, deadline_ns);
}

static enum dist_error be_invited(struct dist__nccl_group *g,
				  struct invitation *invitation,
				  int64_t deadline_ns)
{
	struct dist__message m = control_message(DIST__STEP_GPU, 0);
	struct dist__cuda_uuid gpu = g->device->gpu;
	enum dist_error error;

	m.data = &gpu;
	m.bytes = sizeof gpu;
	error = dist__control_send(&g->base.control, m, &g->base.watches[0]);
	error = settle(g, error, deadline_ns);
	m.step = DIST__STEP_ID;
	m.data = invitation;
	m.bytes = sizeof *invitation;
	if (!error)
		error = dist__control_receive(&g->base.control, m,
					      &g->base.watches[0]);
	return settle(g, error, deadline_ns);
}

/* Waits for what the communicators do in the background. */
static enum dist_error wait_until_quiet(struct dist__nccl_group *g,
					int64_t deadline_ns)
{
	struct dist__backoff backoff = {0};
	enum dist_error error;
	int64_t now_ns;
	bool busy;

	for (;;) {
		now_ns = dist__agreed_now_ns(&g->base);
		error = dist__agreed_poll(&g->base, now_ns);
		busy = false;
		for (int i = 0; i < num_communicators(g); i++)
			busy |= communicator_at(g, i) &&
				communicator_at(g, i)->busy;
		if (error || !busy)
			return error;
		if (now_ns >= deadline_ns)
			return DIST_ERR_TIMEOUT;
		dist__backoff_wait(&backoff);
	}
}

enum dist_error dist__nccl_open(struct dist__nccl_group *g, int64_t deadline_ns)
{
	size_t size = (size_t)g->base.members->world_size;
	struct invitation invitation;
	enum dist_error error;

	if (!root)
		root = g;
	g->wires = calloc(2 * size, sizeof *g->wires);
	if (!g->wires)
		return DIST_ERR_NO_MEMORY;
	error = dist__device_borrow(g->device, sizeof(int32_t),
				    &g->caller.scratch);
	if (!error)
		error = g->base.members->rank == 0
				? invite(g, &invitation, deadline_ns)
				: be_invited(g, &invitation, deadline_ns);
	if (!error) {
		g->sharers = invitation.sharers;
		error = dist__agreed_watch(&g->base);
	}
	if (!error)
		error = dist__communicator_start(
			&g->communicator, &invitation.id,
			g->base.members->world_size, g->base.members->rank);
	if (!error)
		error = wait_until_quiet(g, deadline_ns);
	if (!error)
		error = dist__agreed_meet(&g->base, DIST__STEP_READY,
					  deadline_ns);
	return error;
}

/* ---- ending ------------------------------------------------------------ */

static enum dist_error part(struct dist__nccl_group *g)
{
	int64_t deadline_ns = dist__agreed_deadline_ns(&g->base);
	enum dist_error error;

	error = dist__agreed_part(&g->base, deadline_ns);
	if (error)
		return error;
	dist__agreed_unwatch(&g->base); /* they may go now */
	error = each_communicator(g, dist__communicator_finish);
	if (!error)
		error = wait_until_quiet(g, deadline_ns);
	if (!error)
		release_all(g, dist__communicator_close);
	return error;
}

/* Gives the communicators of g, in which nothing is in flight, to heir. */
static enum dist_error bequeath(struct dist__nccl_group *g,
				struct dist__nccl_group *heir)
{
	size_t most = (size_t)(heir->num_inherited + num_communicators(g));
	struct dist__communicator *all = NULL, *c;

	dist__agreed_unwatch(&g->base);
	pthread_mutex_lock(&heir->base.mutex);
	if (!heir->base.failed)
		all = realloc(heir->inherited, most * sizeof *all);
	if (all)
		heir->inherited = all;
	for (int i = 0; all && i < num_communicators(g); i++) {
		c = communicator_at(g, i);
		if (!c)
			continue;
		all[heir->num_inherited] = *c;
		all[heir->num_inherited++].text = &heir->base.text;
		c->stream = NULL;
	}
	pthread_mutex_unlock(&heir->base.mutex);
	return all ? DIST_OK : DIST_ERR_ABORTED;
}

void dist__nccl_close(struct dist__agreed *base)
{
	struct dist__nccl_group *g = (struct dist__nccl_group *)base;
	enum dist_error error = DIST_OK;

	if (!base->failed)
		error = root == g ? part(g) : bequeath(g, root);
	if (error)
		dist__agreed_fail(base, NULL, error);
	for (int i = 0; g->wires && i < num_wires(g); i++)
		free(g->wires[i]);
	if (root == g)
		root = NULL;
	dist__device_return(g->device, g->caller.scratch);
	dist__devices_free(g);
	free(g->inherited);
	free(g->wires);
}
