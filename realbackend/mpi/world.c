/* world.c - the world of ranks over MPI: tcp's processes and messages, with
 * MPI's collectives. */
#include "realbackend/mpi/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/refuse.h"
#include "realbackend/agree/probe.h"
#include "realbackend/launch/world.h"
#include "realbackend/mpi/begin.h"
#include "realbackend/mpi/group.h"
#include "trace/recorder.h"

/* A process has one MPI. */
static struct dist__mpi *mpi;

static bool is_set(const char *name)
{
	const char *text = getenv(name);

	return text && *text;
}

/* What is_available() answers. */
struct answer {
	bool good;
	struct dist_message text;
};

static void probe(void *found)
{
	struct answer *answer = found;

	mpi = dist__mpi_load(&answer->text);
	answer->good = mpi != NULL;
	if (mpi)
		snprintf(answer->text.text, sizeof answer->text.text, "%s",
			 mpi->version);
}

/* Only ranks need to have it. */
static bool is_available(struct dist_message *why)
{
	static struct answer answer = {
		.text = {"the process that looked for MPI died of it"}};
	static bool known;

	if (!dist__mpi_is_set_well(why))
		return false;
	if (!known && (is_set("RANK") || dist__mpi_launched()))
		probe(&answer);
	else if (!known)
		dist__probe_apart(probe, &answer, sizeof answer);
	known = true;
	*why = answer.text;
	return answer.good;
}

static enum dist_error attach(const struct dist_init_options *options,
			      struct dist__place *place,
			      struct dist_message *message)
{
	enum dist_error error;

	if (is_set("LOCKSTEP_ALGORITHM"))
		return dist__refuse(message,
				    "algorithm \"%.64s\": MPI chooses its own",
				    getenv("LOCKSTEP_ALGORITHM"));
	if (!mpi)
		mpi = dist__mpi_load(message);
	if (!mpi)
		return DIST_ERR_UNAVAILABLE;
	error = dist__tcp_world.attach(options, place, message);
	if (error)
		return error;
	error = dist__mpi_begin(mpi, place, message);
	if (error) {
		dist__mpi_end(mpi, false);
		place->transport->ops->free(place->transport);
		return error;
	}
	/* What a trace was recorded on. */
	dist__recorder_add_fact(place->recorder, "mpi", "%s", mpi->version);
	dist__recorder_add_fact(
		place->recorder, "mpi threads", "%s",
		mpi->threads == DIST__MPI_FUNNELED ? "funneled" : "serialized");
	return DIST_OK;
}

static enum dist_error backend_new(const struct dist__place *place,
				   const struct dist__members *members,
				   struct dist__backend **backend,
				   struct dist_message *message)
{
	return dist__mpi_backend_new(mpi, place, members, backend, message);
}

const struct dist__world dist__mpi_world = {
	.name = "mpi",
	.summary = "real processes over Open MPI or MPICH",
	.has_phantoms = false,
	.is_set_well = dist__mpi_is_set_well,
	.is_available = is_available,
	.default_timeout_ns = DIST_TIMEOUT_DEFAULT,
	.attach = attach,
	.dump = dist__process_dump,
	.launch = dist__processes_launch,
	.backend_new = backend_new,
};
