/*
 * backend.c - the back end of a group whose ranks agree first, and the thread
 * that continues operations while the rank's own thread does not.
 */
#include <stdlib.h>

#include "base/wait.h"
#include "base/refuse.h"
#include "coll/p2p_backend.h"
#include "realbackend/agree/group.h"
#include "realbackend/agree/backoff.h"

static struct dist__agreed *agreed(struct dist__backend *b)
{
	return (struct dist__agreed *)b;
}

/* ---- the thread -------------------------------------------------------- */

/* Lets others at the group for a moment, longer the less there is to do. */
static void pause_look(struct dist__agreed *g, struct dist__backoff *backoff,
		       bool moved)
{
	if (moved)
		backoff->asked = 0;
	if (moved && !g->library->must_be_asked)
		return;
	if (g->library->must_be_asked && g->is_running)
		backoff->asked = 0;
	pthread_mutex_unlock(&g->mutex);
	if (g->library->beside)
		g->library->beside(g);
	dist__backoff_wait(backoff);
	pthread_mutex_lock(&g->mutex);
}

static void *look_after(void *arg)
{
	struct dist__agreed *g = arg;
	struct dist__backoff backoff = {0};

	if (g->library->use)
		g->library->use(g);
	pthread_mutex_lock(&g->mutex);
	while (!g->stopping) {
		if (!g->tasks || g->waiting) {
			pthread_cond_wait(&g->needed, &g->mutex);
			backoff.asked = 0;
		} else {
			pause_look(g, &backoff, dist__agreed_look(g));
		}
	}
	pthread_mutex_unlock(&g->mutex);
	return NULL;
}

/* Called with the mutex held, when the rank's thread goes back to its own
 * business and leaves operations in flight. */
static void leave_to_thread(struct dist__agreed *g)
{
	if (!g->tasks || g->library->beside)
		return;
	if (g->started) {
		pthread_cond_signal(&g->needed);
		return;
	}
	/* Where it cannot start, operations move in the rank's calls alone. */
	g->started = dist__thread_start(&g->thread, look_after, g);
}

/* A thread that is not the rank's first may have another device. */
static void use_device(struct dist__agreed *g)
{
	if (g->library->use && !pthread_equal(g->maker, pthread_self()))
		g->library->use(g);
}

/* ---- the table --------------------------------------------------------- */

/* What the library does not have. */
static bool is_by_messages(const struct dist__agreed *g,
			   const struct dist__op *op)
{
	return op->kind == DIST__MONITORED_BARRIER ||
	       (dist__op_sides(op)->bundle.kind == DIST__DEVICES &&
		!g->library->devices);
}

static enum dist_error submit_op(struct dist__agreed *g, struct dist__op *op)
{
	op->started_ns = 0;
	if (g->failed)
		return g->failed;
	if (!dist__op_is_p2p(op->kind))
		g->issued = op->seq + 1;
	return dist__task_new(g, op) ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static enum dist_error submit(struct dist__backend *b, struct dist__op *op)
{
	struct dist__agreed *g = agreed(b);
	enum dist_error error;

	if (is_by_messages(g, op))
		return g->messages->ops->submit(g->messages, op);
	use_device(g);
	pthread_mutex_lock(&g->mutex);
	error = submit_op(g, op);
	if (!error) {
		(void)dist__agreed_look(g);
		leave_to_thread(g);
	}
	pthread_mutex_unlock(&g->mutex);
	return error;
}

/* Looks until op is done or the clock passes deadline_ns. */
static void look_until(struct dist__agreed *g, struct dist__op *op,
		       int64_t deadline_ns)
{
	struct dist__backoff backoff = {0};
	bool moved;

	use_device(g);
	g->waiting++;
	while (!dist__op_is_done(op)) {
		moved = dist__agreed_look(g);
		if (dist__op_is_done(op) ||
		    dist__agreed_now_ns(g) >= deadline_ns)
			break;
		pause_look(g, &backoff, moved);
	}
	g->waiting--;
	leave_to_thread(g);
}

static enum dist_error run(struct dist__backend *b, struct dist__op *op)
{
	struct dist__agreed *g = agreed(b);
	enum dist_error error;

	if (is_by_messages(g, op))
		return g->messages->ops->run(g->messages, op);
	pthread_mutex_lock(&g->mutex);
	error = submit_op(g, op);
	if (error)
		dist__op_finish(op, error, dist__agreed_now_ns(g));
	else
		look_until(g, op, DIST_TIMEOUT_NEVER);
	pthread_mutex_unlock(&g->mutex);
	return op->error;
}

static enum dist_error wait(struct dist__backend *b, struct dist__op *op,
			    int64_t deadline_ns)
{
	struct dist__agreed *g = agreed(b);

	if (is_by_messages(g, op))
		return g->messages->ops->wait(g->messages, op, deadline_ns);
	pthread_mutex_lock(&g->mutex);
	look_until(g, op, deadline_ns);
	pthread_mutex_unlock(&g->mutex);
	return dist__op_is_done(op) ? op->error : DIST_ERR_TIMEOUT;
}

static bool test(struct dist__backend *b, struct dist__op *op)
{
	struct dist__agreed *g = agreed(b);

	if (dist__op_is_done(op))
		return true;
	if (is_by_messages(g, op))
		return g->messages->ops->test(g->messages, op);
	use_device(g);
	pthread_mutex_lock(&g->mutex);
	(void)dist__agreed_look(g);
	pthread_mutex_unlock(&g->mutex);
	/* A loop around this call must not keep others from the processor that
	 * the answer needs. */
	if (!dist__op_is_done(op))
		sched_yield();
	return dist__op_is_done(op);
}

static int64_t now_ns(struct dist__backend *b)
{
	return dist__agreed_now_ns(agreed(b));
}

static enum dist_error compute(struct dist__backend *b, int64_t duration_ns,
			       const char *label)
{
	struct dist__agreed *g = agreed(b);
	struct dist__transport *t = g->control.transport;
	enum dist_error error;

	(void)label;
	if (g->library->compute && g->library->compute(g, duration_ns, &error))
		return error;
	return t->ops->compute(t, duration_ns);
}

static void abort_group(struct dist__backend *b)
{
	struct dist__agreed *g = agreed(b);

	pthread_mutex_lock(&g->mutex);
	dist__agreed_fail(g, NULL, DIST_ERR_ABORTED);
	pthread_mutex_unlock(&g->mutex);
}

static const char *text(struct dist__backend *b)
{
	return agreed(b)->text.text;
}

static void free_group(struct dist__backend *b)
{
	struct dist__agreed *g = agreed(b);

	pthread_mutex_lock(&g->mutex);
	g->stopping = true;
	pthread_cond_signal(&g->needed);
	pthread_mutex_unlock(&g->mutex);
	if (g->started)
		pthread_join(g->thread, NULL);
	g->library->close(g);
	free(g->watches);
	if (g->messages)
		g->messages->ops->free(g->messages);
	pthread_cond_destroy(&g->needed);
	pthread_mutex_destroy(&g->mutex);
	free(g);
}

static const struct dist__backend_ops agreed_ops = {
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

enum dist_error dist__agreed_init(struct dist__agreed *g,
				  const struct dist__library_ops *library,
				  const struct dist__place *place,
				  const struct dist__members *members)
{
	g->base.ops = &agreed_ops;
	g->library = library;
	g->members = members;
	g->maker = pthread_self();
	g->control.transport = place->transport;
	g->control.members = members;
	g->timeout_ns = place->timeout_ns;
	pthread_mutex_init(&g->mutex, NULL);
	pthread_cond_init(&g->needed, NULL);
	g->watches = calloc((size_t)members->world_size,
			    sizeof(struct dist__request *));
	if (!g->watches ||
	    dist__p2p_backend_new(place, members, &g->messages, NULL))
		return DIST_ERR_NO_MEMORY;
	return DIST_OK;
}

enum dist_error dist__agreed_explain(const struct dist__agreed *g,
				     enum dist_error error, const char *what,
				     struct dist_message *message)
{
	if (error == DIST_ERR_NO_MEMORY)
		return error;
	if (g->text.text[0]) {
		*message = g->text;
		return DIST_ERR_UNAVAILABLE;
	}
	return dist__refuse_as(
		message, DIST_ERR_RENDEZVOUS, "no %s of %d ranks: %s", what,
		g->members->world_size, dist_error_string(error));
}

enum dist_error dist__agreed_made(struct dist__agreed *g, enum dist_error error,
				  struct dist__backend **backend)
{
	if (error) {
		dist__agreed_fail(g, NULL, error);
		free_group(&g->base);
	} else {
		*backend = &g->base;
	}
	return error;
}
