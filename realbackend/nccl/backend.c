/*
 * backend.c - the table of back ends' slots for a group on NCCL, and the thread
 * that looks after operations while the rank's own is elsewhere.
 */
#include "realbackend/nccl/backend.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/record.h"
#include "coll/p2p_backend.h"
#include "realbackend/nccl/group.h"
#include "realbackend/nccl/patience.h"

static struct dist__nccl_group *nccl(struct dist__backend *b)
{
	return (struct dist__nccl_group *)b;
}

/* ---- the thread -------------------------------------------------------- */

/* Lets others at the group for a moment, longer the less there is to do. */
static void pause_look(struct dist__nccl_group *g,
		       struct dist__patience *patience, bool moved)
{
	if (moved) {
		patience->asked = 0;
		return;
	}
	pthread_mutex_unlock(&g->mutex);
	dist__patience_wait(patience);
	pthread_mutex_lock(&g->mutex);
}

static void *look_after(void *arg)
{
	struct dist__nccl_group *g = arg;
	struct dist__patience patience = {0};

	dist__device_use(g->device);
	pthread_mutex_lock(&g->mutex);
	while (!g->stopping) {
		if (!g->tasks || g->waiting) {
			pthread_cond_wait(&g->needed, &g->mutex);
			patience.asked = 0;
		} else {
			pause_look(g, &patience, dist__nccl_look(g));
		}
	}
	pthread_mutex_unlock(&g->mutex);
	return NULL;
}

/* Called with the mutex held, when the rank's thread goes back to its own
 * business and leaves operations in flight. */
static void leave_to_thread(struct dist__nccl_group *g)
{
	sigset_t all, before;

	if (!g->tasks)
		return;
	if (g->started) {
		pthread_cond_signal(&g->needed);
		return;
	}
	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* Where it cannot start, operations move in the rank's calls alone. */
	g->started = pthread_create(&g->thread, NULL, look_after, g) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_thread(struct dist__nccl_group *g)
{
	pthread_mutex_lock(&g->mutex);
	g->stopping = true;
	pthread_cond_signal(&g->needed);
	pthread_mutex_unlock(&g->mutex);
	if (g->started)
		pthread_join(g->thread, NULL);
}

/* A thread that is not the rank's first may have another device. */
static void use_device(const struct dist__nccl_group *g)
{
	if (!pthread_equal(g->maker, pthread_self()))
		dist__device_use(g->device);
}

/* ---- the table --------------------------------------------------------- */

static enum dist_error submit_op(struct dist__nccl_group *g,
				 struct dist__op *op)
{
	op->started_ns = 0;
	if (g->failed)
		return g->failed;
	return dist__task_new(g, op) ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static enum dist_error submit(struct dist__backend *b, struct dist__op *op)
{
	struct dist__nccl_group *g = nccl(b);
	enum dist_error error;

	use_device(g);
	pthread_mutex_lock(&g->mutex);
	error = submit_op(g, op);
	if (!error) {
		(void)dist__nccl_look(g);
		leave_to_thread(g);
	}
	pthread_mutex_unlock(&g->mutex);
	return error;
}

/* Looks until op is done or the clock passes deadline_ns. */
static void look_until(struct dist__nccl_group *g, struct dist__op *op,
		       int64_t deadline_ns)
{
	struct dist__patience patience = {0};
	bool moved;

	use_device(g);
	g->waiting++;
	while (!dist__op_is_done(op)) {
		moved = dist__nccl_look(g);
		if (dist__op_is_done(op) || dist__nccl_now_ns(g) >= deadline_ns)
			break;
		pause_look(g, &patience, moved);
	}
	g->waiting--;
	leave_to_thread(g);
}

static enum dist_error run(struct dist__backend *b, struct dist__op *op)
{
	struct dist__nccl_group *g = nccl(b);
	enum dist_error error;

	if (op->kind == DIST__MONITORED_BARRIER)
		return g->messages->ops->run(g->messages, op);
	pthread_mutex_lock(&g->mutex);
	error = submit_op(g, op);
	if (error)
		dist__op_finish(op, error, dist__nccl_now_ns(g));
	else
		look_until(g, op, DIST_TIMEOUT_NEVER);
	pthread_mutex_unlock(&g->mutex);
	return op->error;
}

static enum dist_error wait(struct dist__backend *b, struct dist__op *op,
			    int64_t deadline_ns)
{
	struct dist__nccl_group *g = nccl(b);

	pthread_mutex_lock(&g->mutex);
	look_until(g, op, deadline_ns);
	pthread_mutex_unlock(&g->mutex);
	return dist__op_is_done(op) ? op->error : DIST_ERR_TIMEOUT;
}

static bool test(struct dist__backend *b, struct dist__op *op)
{
	struct dist__nccl_group *g = nccl(b);

	if (dist__op_is_done(op))
		return true;
	use_device(g);
	pthread_mutex_lock(&g->mutex);
	(void)dist__nccl_look(g);
	pthread_mutex_unlock(&g->mutex);
	/* A loop around this call must not keep others from the processor that
	 * the answer needs. */
	if (!dist__op_is_done(op))
		sched_yield();
	return dist__op_is_done(op);
}

static int64_t now_ns(struct dist__backend *b)
{
	return dist__nccl_now_ns(nccl(b));
}

static enum dist_error compute(struct dist__backend *b, int64_t duration_ns,
			       const char *label)
{
	struct dist__nccl_group *g = nccl(b);
	struct dist__transport *t = g->control.transport;
	enum dist_error error;

	(void)label;
	if (dist__device_spin(g->device, duration_ns, &error))
		return error;
	return t->ops->compute(t, duration_ns);
}

static void abort_group(struct dist__backend *b)
{
	struct dist__nccl_group *g = nccl(b);

	pthread_mutex_lock(&g->mutex);
	dist__nccl_fail(g, NULL, DIST_ERR_ABORTED);
	pthread_mutex_unlock(&g->mutex);
}

static const char *text(struct dist__backend *b)
{
	return nccl(b)->text.text;
}

static void free_group(struct dist__backend *b)
{
	struct dist__nccl_group *g = nccl(b);

	stop_thread(g);
	dist__nccl_close(g);
	if (g->messages)
		g->messages->ops->free(g->messages);
	pthread_cond_destroy(&g->needed);
	pthread_mutex_destroy(&g->mutex);
	free(g);
}

static const struct dist__backend_ops nccl_ops = {
	.run = run,
	.submit = submit,
	.wait = wait,
	.test = test,
	.now_ns = now_ns,
	.compute = compute,
	.abort = abort_group,
	.failure_text = text,
	.free = free_group,
};

/* ---- making ------------------------------------------------------------ */

static struct dist__nccl_group *group_new(const struct dist__device *device,
					  const struct dist__place *place,
					  const struct dist__members *members)
{
	struct dist__nccl_group *g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	g->base.ops = &nccl_ops;
	g->device = device;
	g->members = members;
	g->maker = pthread_self();
	g->control.transport = place->transport;
	g->control.members = members;
	g->caller.rank = members->rank;
	g->caller.world_size = members->world_size;
	g->timeout_ns = place->timeout_ns;
	g->sharers = (struct dist__sharers){-1, -1};
	g->communicator.device = device;
	g->communicator.text = &g->text;
	pthread_mutex_init(&g->mutex, NULL);
	pthread_cond_init(&g->needed, NULL);
	if (dist__p2p_backend_new(place, members, &g->messages, NULL))
		g->messages = NULL;
	return g;
}

/* Whether NCCL says that two ranks have one device; then it is in the records
 * which, and in the text what would allow it. */
static bool record_shared_device(struct dist__nccl_group *g,
				 struct check_rendezvous_failure *failure)
{
	int a = dist__global_rank(g->members, g->sharers.first);
	int b = dist__global_rank(g->members, g->sharers.second);
	char advice[128];

	if (g->sharers.first < 0 || !dist__sharing_is_refused(g->text.text))
		return false;
	dist__sharing_advise(g->device->libraries.nccl_version, advice,
			     sizeof advice);
	snprintf(g->text.text, sizeof g->text.text,
		 "ranks %d and %d have one GPU: %s", a < b ? a : b,
		 a < b ? b : a, advice);
	snprintf(failure->text, sizeof failure->text, "%.255s", g->text.text);
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
	if (g->text.text[0]) {
		shared = record_shared_device(g, &slot->rendezvous);
		*message = g->text;
		return shared ? DIST_ERR_RENDEZVOUS : DIST_ERR_UNAVAILABLE;
	}
	snprintf(message->text, sizeof message->text,
		 "no NCCL communicator of %d ranks: %s", g->members->world_size,
		 dist_error_string(error));
	return DIST_ERR_RENDEZVOUS;
}

enum dist_error dist__nccl_backend_new(const struct dist__device *device,
				       const struct dist__place *place,
				       const struct dist__members *members,
				       struct dist__backend **backend,
				       struct dist_message *message)
{
	struct dist__nccl_group *g = group_new(device, place, members);
	int64_t deadline_ns = DIST_TIMEOUT_NEVER;
	enum dist_error error;
	int64_t now_ns;

	if (!g)
		return DIST_ERR_NO_MEMORY;
	now_ns = dist__nccl_now_ns(g);
	if (g->timeout_ns < DIST_TIMEOUT_NEVER - now_ns)
		deadline_ns = now_ns + g->timeout_ns;
	error = g->messages ? dist__nccl_open(g, deadline_ns)
			    : DIST_ERR_NO_MEMORY;
	if (error) {
		/* On record before a peer, told of it, ends and is asked why.
		 */
		error = explain(g, error, place->slot, message);
		dist__nccl_fail(g, NULL, error);
		free_group(&g->base);
		return error;
	}
	*backend = &g->base;
	return DIST_OK;
}
