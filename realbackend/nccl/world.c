#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/variable.h"
#include "base/quantity.h"
#include "realbackend/agree/probe.h"
#include "realbackend/launch/world.h"
#include "realbackend/nccl/backend.h"
#include "realbackend/nccl/launch.h"
#include "realbackend/nccl/world.h"
#include "trace/recorder.h"

/* A process has one device. */
static const struct dist__device *device;

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

	if (algorithm) {
		snprintf(message->text, sizeof message->text,
			 "algorithm \"%.64s\": NCCL chooses its own; see its "
			 "NCCL_ALGO",
			 algorithm);
		return DIST_ERR_INVALID_ARGUMENT;
	}
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

static enum dist_error backend_new(const struct dist__place *place,
				   const struct dist__members *members,
				   struct dist__backend **backend,
				   struct dist_message *message)
{
	return dist__nccl_backend_new(device, place, members, backend, message);
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
