/*
 * world.c - the world of ranks over MPI: tcp's processes and messages, with
 * MPI's collectives. A group is a communicator that only its members make.
 *
 * One thread at a time calls MPI, under the library's mutex. If MPI allows only
 * its first thread, no thread of ours continues operations: they proceed while
 * the rank is in a call of any of its groups.
 */
#include "realbackend/mpi/world.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/refuse.h"
#include "realbackend/agree/group.h"
#include "realbackend/agree/probe.h"
#include "realbackend/launch/world.h"
#include "realbackend/mpi/begin.h"
#include "realbackend/mpi/launch.h"
#include "realbackend/mpi/library.h"
#include "trace/recorder.h"

/* A process has one MPI. */
static struct dist__mpi *library;

/* Every implementation has tags up to this. */
#define MOST_TAG 32767

/* A call that blocks for so long, because a rank lacks a processor or the wire
 * is slow, gains nothing by it: the next ones do not. */
#define LATE_NS  ((int64_t)1000000)
#define DISTRUST 100

struct task {
	struct dist__task base;
	struct dist__mpi_launch launch;
};

struct group {
	struct dist__agreed base;
	struct dist__mpi_comm comm;
	bool blocks;        /* short operations in MPI */
	int distrust;       /* not so many times */
	uint64_t granted;   /* messages that the rank receives */
	struct group *next; /* of the rank's */
	struct dist__library_ops ops;
};

/* A process is one rank, which has one default group. */
static struct group *groups, *root;

/* Operations of the rank that have not ended, of all groups. */
static atomic_int num_tasks;

static struct group *of(struct dist__agreed *g)
{
	return (struct group *)g;
}

static void lock(struct group *g)
{
	pthread_mutex_lock(&g->comm.mpi->mutex);
}

static void unlock(struct group *g)
{
	pthread_mutex_unlock(&g->comm.mpi->mutex);
}

/* ---- what the agreement asks for --------------------------------------- */

/* The memory of operations that failed is their callers' again, and MPI would
 * go on with it in any call. */
static enum dist_error poll(struct dist__agreed *g)
{
	if (!of(g)->comm.mpi->is_poisoned)
		return DIST_OK;
	snprintf(g->text.text, sizeof g->text.text,
		 "another group failed while %s had its operations",
		 of(g)->comm.mpi->name);
	return DIST_ERR_ABORTED;
}

static void task_begin(struct dist__agreed *g, struct dist__task *task)
{
	(void)g;
	(void)task;
	atomic_fetch_add(&num_tasks, 1);
}

/*
 * Whoever blocks in MPI holds its mutex. So a rank is for it only in one
 * operation at a time, in which it waits and which nothing of its own can end:
 * then all others of that operation come, or have died. Of that MPI says
 * nothing, but whoever started the ranks ends them.
 */
static bool may_block(struct dist__agreed *base, const struct dist__task *task)
{
	struct group *g = of(base);

	if (!g->blocks || !task->op->lone || atomic_load(&num_tasks) != 1 ||
	    !dist__mpi_is_short(task->op, g->comm.world_size))
		return false;
	if (g->distrust == 0)
		return true;
	g->distrust--;
	return false;
}

static enum dist_error grant(struct dist__agreed *g, struct dist__task *task)
{
	task->grant.number = of(g)->granted++;
	return DIST_OK;
}

static enum dist_error launch(struct dist__agreed *base,
			      struct dist__task *task, bool *ended)
{
	struct dist__mpi_launch *l = &((struct task *)task)->launch;
	struct group *g = of(base);
	bool p2p = dist__op_is_p2p(task->op->kind);
	int64_t begun_ns = 0;
	enum dist_error error;

	(void)ended;
	l->blocks = !p2p && task->agreement.vote;
	if (l->blocks)
		begun_ns = dist__agreed_now_ns(base);
	lock(g);
	error = dist__mpi_launch(l, &g->comm, task->op,
				 p2p ? task->peer : task->op->peer,
				 (int)(task->grant.number % MOST_TAG));
	unlock(g);
	if (l->blocks && dist__agreed_now_ns(base) - begun_ns > LATE_NS)
		g->distrust = DISTRUST;
	return error;
}

static enum dist_error run(struct dist__agreed *base, struct dist__task *task,
			   bool *ended)
{
	struct group *g = of(base);
	enum dist_error error;

	lock(g);
	error = dist__mpi_look(&((struct task *)task)->launch, &g->comm,
			       task->op, ended);
	unlock(g);
	return error;
}

static void task_end(struct dist__agreed *g, struct dist__task *task)
{
	(void)g;
	atomic_fetch_sub(&num_tasks, 1);
	dist__mpi_leave(&((struct task *)task)->launch);
}

static void abort_all(struct dist__agreed *g)
{
	for (struct dist__task *task = g->tasks; task; task = task->next)
		if (task->state == DIST__TASK_RUNNING)
			of(g)->comm.mpi->is_poisoned = true;
}

/* Where MPI has one thread: goes on with the rank's other groups, whom none
 * looks after. */
static void beside(struct dist__agreed *base)
{
	for (struct group *g = groups; g; g = g->next)
		if (&g->base != base &&
		    pthread_mutex_trylock(&g->base.mutex) == 0) {
			(void)dist__agreed_look(&g->base);
			pthread_mutex_unlock(&g->base.mutex);
		}
}

/* ---- the communicator --------------------------------------------------- */

static enum dist_error make_communicator(struct group *g)
{
	const struct dist__mpi *mpi = g->comm.mpi;
	const struct dist__members *members = g->base.members;
	struct dist_message *text = &g->base.text;
	uintptr_t everybody = 0, some = 0;
	enum dist_error error;
	int *ranks = calloc((size_t)members->world_size, sizeof *ranks);

	if (!ranks)
		return DIST_ERR_NO_MEMORY;
	for (int rank = 0; rank < members->world_size; rank++)
		ranks[rank] = dist__global_rank(members, rank);
	error = dist__mpi_check(
		mpi, text, "MPI_Comm_group",
		mpi->call.Comm_group(mpi->is.comm_world, &everybody));
	if (!error)
		error = dist__mpi_check(
			mpi, text, "MPI_Group_incl",
			mpi->call.Group_incl(everybody, members->world_size,
					     ranks, &some));
	if (!error)
		error = dist__mpi_check(
			mpi, text, "MPI_Comm_create_group",
			mpi->call.Comm_create_group(
				mpi->is.comm_world, some,
				(int)(members->group_id % MOST_TAG),
				&g->comm.handle));
	if (!error)
		error = dist__mpi_check(
			mpi, text, "MPI_Comm_set_errhandler",
			mpi->call.Comm_set_errhandler(g->comm.handle,
						      mpi->is.errors_return));
	free(ranks);
	return error;
}

/* Nobody calls MPI before all members have come: there it would wait for
 * ever. */
static enum dist_error open_group(struct group *g)
{
	int64_t deadline_ns = dist__agreed_deadline_ns(&g->base);
	enum dist_error error = dist__agreed_watch(&g->base);

	if (!error)
		error = dist__agreed_meet(&g->base, DIST__STEP_READY,
					  deadline_ns);
	if (error)
		return error;
	lock(g);
	error = make_communicator(g);
	unlock(g);
	return error;
}

/*
 * The default group parts from its members, and with it the rank from MPI. A
 * rank that destroys another group waits for nobody, and so its communicator,
 * which all would have to free together, stays until then.
 */
static void close_group(struct dist__agreed *base)
{
	struct group **link = &groups, *g = of(base);
	enum dist_error error = DIST_OK;

	while (*link && *link != g)
		link = &(*link)->next;
	if (*link)
		*link = g->next;
	if (!base->watches)
		return;
	if (!base->failed && g == root)
		error = dist__agreed_part(base, dist__agreed_deadline_ns(base));
	if (error)
		dist__agreed_fail(base, NULL, error);
	dist__agreed_unwatch(base);
	if (g != root)
		return;
	root = NULL;
	dist__mpi_end(g->comm.mpi, !base->failed);
}

static const struct dist__library_ops agreed_ops = {
	.task_bytes = sizeof(struct task),
	.grant_bytes = sizeof(uint64_t),
	.must_be_asked = true,
	.poll = poll,
	.task_begin = task_begin,
	.may_block = may_block,
	.grant = grant,
	.launch = launch,
	.run = run,
	.task_end = task_end,
	.abort = abort_all,
	.close = close_group,
};

static enum dist_error backend_new(const struct dist__place *place,
				   const struct dist__members *members,
				   struct dist__backend **backend,
				   struct dist_message *message)
{
	struct group *g = calloc(1, sizeof *g);
	enum dist_error error;

	if (!g)
		return DIST_ERR_NO_MEMORY;
	g->comm = (struct dist__mpi_comm){.mpi = library,
					  .rank = members->rank,
					  .world_size = members->world_size,
					  .text = &g->base.text};
	g->blocks = (place->watched || dist__mpi_launched()) &&
		    dist__mpi_has_room(place);
	g->next = groups;
	groups = g;
	if (!root)
		root = g;
	g->ops = agreed_ops;
	if (library->threads < DIST__MPI_SERIALIZED)
		g->ops.beside = beside;
	error = dist__agreed_init(&g->base, &g->ops, place, members);
	if (!error)
		error = open_group(g);
	if (error)
		error = dist__agreed_explain(&g->base, error,
					     "MPI communicator", message);
	return dist__agreed_made(&g->base, error, backend);
}

/* ---- the world ---------------------------------------------------------- */

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

	library = dist__mpi_load(&answer->text);
	answer->good = library != NULL;
	if (library)
		snprintf(answer->text.text, sizeof answer->text.text, "%s",
			 library->version);
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
	if (!library)
		library = dist__mpi_load(message);
	if (!library)
		return DIST_ERR_UNAVAILABLE;
	error = dist__tcp_world.attach(options, place, message);
	if (error)
		return error;
	error = dist__mpi_begin(library, place, message);
	if (error) {
		dist__mpi_end(library, false);
		place->transport->ops->free(place->transport);
		return error;
	}
	/* What a trace was recorded on. */
	dist__recorder_add_fact(place->recorder, "mpi", "%s", library->version);
	dist__recorder_add_fact(place->recorder, "mpi threads", "%s",
				library->threads == DIST__MPI_FUNNELED
					? "funneled"
					: "serialized");
	return DIST_OK;
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
