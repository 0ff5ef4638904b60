/* backend.c - makes a group on NCCL. */
#include "realbackend/nccl/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "check/record.h"
#include "realbackend/nccl/devices.h"

static void use(struct dist__agreed *g)
{
	dist__device_use(((struct dist__nccl_group *)g)->device);
}

static bool compute(struct dist__agreed *g, int64_t duration_ns,
		    enum dist_error *error)
{
	return dist__device_spin(((struct dist__nccl_group *)g)->device,
				 duration_ns, error);
}

static const struct dist__library_ops nccl = {
	.task_bytes = sizeof(struct dist__nccl_task),
	.grant_bytes = sizeof(struct dist__grant),
	.use = use,
	.poll = dist__nccl_poll,
	.task_begin = dist__nccl_task_begin,
	.grant = dist__nccl_grant,
	.granted = dist__nccl_granted,
	.devices = dist__nccl_devices,
	.may_launch = dist__nccl_may_launch,
	.launch = dist__nccl_launch,
	.run = dist__nccl_run,
	.task_end = dist__nccl_task_end,
	.abort = dist__nccl_abort,
	.compute = compute,
	.close = dist__nccl_close,
};

/* Whether NCCL says that two ranks have one device; then it is in the records
 * which, and in the text what would allow it. */
static bool record_shared_device(struct dist__nccl_group *g,
				 struct check_rendezvous_failure *failure)
{
	int a = dist__global_rank(g->base.members, g->sharers.first);
	int b = dist__global_rank(g->base.members, g->sharers.second);
	char advice[DIST__ADVICE_TEXT];

	if (g->sharers.first < 0 ||
	    !dist__sharing_is_refused(g->base.text.text))
		return false;
	dist__sharing_advise(g->device->libraries.nccl_version, advice,
			     sizeof advice);
	snprintf(g->base.text.text, sizeof g->base.text.text,
		 "ranks %d and %d have one GPU: %s", a < b ? a : b,
		 a < b ? b : a, advice);
	snprintf(failure->text, sizeof failure->text, "%.255s",
		 g->base.text.text);
	failure->count = 2;
	failure->ranks[0] = (uint32_t)(a < b ? a : b);
	failure->ranks[1] = (uint32_t)(a < b ? b : a);
	return true;
}

/* What a group that could not be made means to who asked for it. */
static enum dist_error explain(struct dist__nccl_group *g,
			       enum dist_error error, struct check_slot *slot,
			       struct dist_message *message)
{
	bool shared;

	if (error == DIST_ERR_NO_MEMORY)
		return error;
	if (g->base.text.text[0]) {
		shared = record_shared_device(g, &slot->rendezvous);
		*message = g->base.text;
		return shared ? DIST_ERR_RENDEZVOUS : DIST_ERR_UNAVAILABLE;
	}
	return dist__refuse_as(message, DIST_ERR_RENDEZVOUS,
			       "no NCCL communicator of %d ranks: %s",
			       g->base.members->world_size,
			       dist_error_string(error));
}

enum dist_error dist__nccl_backend_new(const struct dist__device *device,
				       const struct dist__place *place,
				       const struct dist__members *members,
				       struct dist__backend **backend,
				       struct dist_message *message)
{
	struct dist__nccl_group *g = calloc(1, sizeof *g);
	enum dist_error error;

	if (!g)
		return DIST_ERR_NO_MEMORY;
	g->device = device;
	g->caller.rank = members->rank;
	g->caller.world_size = members->world_size;
	g->sharers = (struct dist__sharers){-1, -1};
	g->communicator.device = device;
	g->communicator.text = &g->base.text;
	error = dist__agreed_init(&g->base, &nccl, place, members);
	if (!error)
		error = dist__nccl_open(g, dist__agreed_deadline_ns(&g->base));
	if (error) {
		/* On record before a peer, told of it, ends and is asked why.
		 */
		error = explain(g, error, place->slot, message);
		dist__agreed_fail(&g->base, NULL, error);
		dist__agreed_free(&g->base);
		return error;
	}
	*backend = &g->base.base;
	return DIST_OK;
}
