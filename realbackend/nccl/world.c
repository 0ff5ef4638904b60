/* world.c - the world of ranks with a GPU each: tcp's processes and messages,
 * with NCCL's collectives. */
#include "realbackend/nccl/world.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/refuse.h"
#include "base/variable.h"
#include "check/record.h"
#include "realbackend/agree/probe.h"
#include "realbackend/launch/world.h"
#include "realbackend/nccl/device.h"
#include "realbackend/nccl/devices.h"
#include "realbackend/nccl/group.h"
#include "realbackend/nccl/launch.h"
#include "trace/recorder.h"

/* A process has one device. */
static const struct dist__device *device;

/* ---- a group ------------------------------------------------------------- */

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

static enum dist_error backend_new(const struct dist__place *place,
				   const struct dist__members *members,
				   struct dist__backend **backend,
				   struct dist_message *message)
{
	struct dist__nccl_group *g = calloc(1, sizeof *g);
	enum dist_error error;
	bool shared;

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
	/* Recorded first: the peers that learn of it end, and say why. */
	shared = error && error != DIST_ERR_NO_MEMORY &&
		 record_shared_device(g, &place->slot->rendezvous);
	if (error)
		error = dist__agreed_explain(&g->base, error,
					     "NCCL communicator", message);
	return dist__agreed_made(&g->base, shared ? DIST_ERR_RENDEZVOUS : error,
				 backend);
}

/* ---- is there one? ----------------------------------------------------- */

/* The answer to who asks. */
struct answer {
	bool good;
	int count; /* of devices */
	int nccl_version;
	struct dist_message text; /* what was found, or is missing */
};

static void probe(void *found)
{
	struct answer *answer = found;
	struct dist__libraries libraries;

	answer->good = dist__device_probe(&libraries, &answer->count,
					  &answer->text) == DIST_OK;
	answer->nccl_version = libraries.nccl_version;
	if (answer->good)
		snprintf(answer->text.text, sizeof answer->text.text,
			 "%s, %s, %d device%s", libraries.nccl_text,
			 libraries.cuda_text, answer->count,
			 answer->count == 1 ? "" : "s");
}

/* The driver does not survive a fork, and who asks may be about to fork the
 * ranks: a child looks. */
static const struct answer *look(void)
{
	static struct answer answer = {
		.text = {"the process that looked for a device died of it"}};
	static bool known;

	if (!known && dist__variable("RANK"))
		probe(&answer);
	else if (!known)
		dist__probe_apart(probe, &answer, sizeof answer);
	known = true;
	return &answer;
}

static bool is_available(struct dist_message *why)
{
	*why = look()->text;
	return look()->good;
}

/* Who asks for more ranks than there are GPUs asks for several on one, unless
 * the environment says something about it. */
static void prepare(int num_ranks, struct dist_message *text)
{
	const struct answer *found = look();

	text->text[0] = '\0';
	if (num_ranks <= found->count ||
	    found->nccl_version < DIST__NCCL_SHARES ||
	    getenv(DIST__NCCL_SHARING) || setenv(DIST__NCCL_SHARING, "1", 1))
		return;
	snprintf(text->text, sizeof text->text,
		 "%d ranks on %d GPU%s: " DIST__NCCL_SHARING
		 "=1 is set, so that NCCL allows it",
		 num_ranks, found->count, found->count == 1 ? "" : "s");
}

/* ---- joining ----------------------------------------------------------- */

/* Which of the machine's devices: what the launcher says, else one after the
 * other in the order of the ranks on this node. */
static int local_rank(const struct dist__place *place)
{
	const char *text = dist__variable("LOCAL_RANK");
	int64_t number;
	int before = 0;

	if (text && dist__count_read(text, 0, INT_MAX, &number))
		return (int)number;
	for (int rank = 0; place->nodes && rank < place->rank; rank++)
		before += place->nodes[rank] == place->nodes[place->rank];
	return before;
}

static enum dist_error attach(const struct dist_init_options *options,
			      struct dist__place *place,
			      struct dist_message *message)
{
	const char *algorithm = dist__variable("LOCKSTEP_ALGORITHM");
	struct dist_init_options here = *options;
	enum dist_error error;

	if (algorithm)
		return dist__refuse(
			message,
			"algorithm \"%.64s\": NCCL chooses its own; see its "
			"NCCL_ALGO",
			algorithm);
	if (!here.timeout_ns && !dist__variable("LOCKSTEP_TIMEOUT"))
		here.timeout_ns = dist__nccl_world.default_timeout_ns;
	error = dist__tcp_world.attach(&here, place, message);
	if (error)
		return error;
	device = dist__device_open(local_rank(place), message);
	if (device) {
		const struct dist__libraries *l = &device->libraries;

		/* What a trace was recorded on. */
		dist__recorder_add_fact(place->recorder, "nccl", "%s",
					l->nccl_text);
		dist__recorder_add_fact(place->recorder, "cuda", "%s",
					l->cuda_text);
		dist__recorder_add_fact(place->recorder, "compute", "%s",
					device->spin ? "a kernel" : "a sleep");
		return DIST_OK;
	}
	place->transport->ops->free(place->transport);
	return DIST_ERR_UNAVAILABLE;
}

const struct dist__world dist__nccl_world = {
	.name = "nccl",
	.summary = "real processes, a GPU each, over NCCL",
	.has_phantoms = false,
	.is_available = is_available,
	.default_timeout_ns = DIST_TIMEOUT_DEFAULT_NCCL,
	.attach = attach,
	.dump = dist__process_dump,
	.prepare = prepare,
	.launch = dist__processes_launch,
	.backend_new = backend_new,
	.reduces = dist__launch_reduces,
	.memory = &dist__device_memory,
};
