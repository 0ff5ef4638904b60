/*
 * group.c - continues the operations of a group, watches its members, and ends
 * it.
 */
#include "realbackend/agree/group.h"

#include <stdlib.h>

#include "base/clock.h"
#include "realbackend/agree/backoff.h"

/* ---- failing ----------------------------------------------------------- */

void dist__agreed_unwatch(struct dist__agreed *g)
{
	for (int rank = 0; rank < g->members->world_size; rank++)
		dist__control_drop(&g->control, &g->watches[rank]);
}

void dist__agreed_fail(struct dist__agreed *g, struct dist__task *culprit,
		       enum dist_error error)
{
	struct dist__transport *t = g->control.transport;
	struct dist__task *task;

	if (g->failed)
		return;
	g->failed = error;
	if (!g->watches)
		return; /* nobody has heard of it yet */
	t->ops->abort(t, g->members->group_id);
	/* The library must be done with their memory before they end. */
	g->library->abort(g);
	while ((task = g->tasks) != NULL)
		dist__task_end(g, task,
			       task == culprit ? error : DIST_ERR_ABORTED);
	dist__agreed_unwatch(g);
}

/* ---- going on ---------------------------------------------------------- */

/* One member after the other: whoever lacks a processor comes here seldom, and
 * would look at them all each time. */
static enum dist_error watch(struct dist__agreed *g, int64_t now_ns)
{
	enum dist_error error = DIST_OK;
	int size = g->members->world_size;

	if (now_ns - g->watched_ns < DIST__WATCH_NS / size)
		return DIST_OK;
	g->watched_ns = now_ns;
	g->watched = (g->watched + 1) % size;
	if (g->watches[g->watched])
		g->is_left |= dist__control_ended(
			&g->control, &g->watches[g->watched], &error);
	return error;
}

/* Whether a collective is polled for that the rank before this one has left
 * without. The others learn it from who does: it fails. Of a rank that waits
 * the launcher proves it, when all others have come, too. */
static bool waits_in_vain(const struct dist__agreed *g,
			  const struct dist__task *task)
{
	return g->is_left && !g->waiting &&
	       task->state == DIST__TASK_AGREEING &&
	       !dist__op_is_p2p(task->op->kind) &&
	       (int32_t)(task->op->seq - g->issued_before) >= 0;
}

static enum dist_error poll_library(struct dist__agreed *g)
{
	return g->library->poll ? g->library->poll(g) : DIST_OK;
}

enum dist_error dist__agreed_poll(struct dist__agreed *g, int64_t now_ns)
{
	enum dist_error error = poll_library(g);

	return error ? error : watch(g, now_ns);
}

/* The same, but a member is missed for a while before that is an error. */
static enum dist_error poll_patiently(struct dist__agreed *g, int64_t now_ns)
{
	enum dist_error error = watch(g, now_ns);

	if (error && !g->missed) {
		g->missed = error;
		g->missed_ns = now_ns;
	}
	if (g->missed && now_ns - g->missed_ns >= DIST__MISSED_NS)
		return g->missed;
	return poll_library(g);
}

bool dist__agreed_look(struct dist__agreed *g)
{
	struct dist__task *task, *next;
	struct dist__line line = {false, false, false};
	int64_t now_ns = dist__agreed_now_ns(g);
	enum dist_error error;
	bool moved = false, ended;

	if (g->failed)
		return false;
	error = poll_patiently(g, now_ns);
	if (error) {
		dist__agreed_fail(g, g->tasks, error);
		return true;
	}
	g->is_running = false;
	for (task = g->tasks; task; task = next) {
		next = task->next;
		error = dist__task_look(g, task, &line, &moved, &ended);
		g->is_running |= !ended && task->state == DIST__TASK_RUNNING;
		if (!error && !ended && now_ns >= task->op->deadline_ns)
			error = DIST_ERR_TIMEOUT;
		if (!error && !ended && waits_in_vain(g, task))
			error = DIST_ERR_PEER_LOST;
		if (error) {
			dist__agreed_fail(g, task, error);
			return true;
		}
		if (ended)
			dist__task_end(g, task, DIST_OK);
	}
	return moved;
}

/* ---- beginning and ending ---------------------------------------------- */

enum dist_error dist__agreed_watch(struct dist__agreed *g)
{
	struct dist__message m = {
		.tag = -1, .seq = DIST__CONTROL_SEQ, .step = DIST__STEP_WATCH};
	enum dist_error error = DIST_OK;

	for (m.peer = 0; m.peer < g->members->world_size && !error; m.peer++) {
		bool before = (m.peer + 1) % g->members->world_size ==
			      g->members->rank;

		m.data = before ? &g->issued_before : NULL;
		m.bytes = before ? sizeof g->issued_before : 0;
		if (m.peer != g->members->rank)
			error = dist__control_receive(&g->control, m,
						      &g->watches[m.peer]);
	}
	return error;
}

enum dist_error dist__agreed_part(struct dist__agreed *g, int64_t deadline_ns)
{
	const struct dist__message farewell = {.peer = (g->members->rank + 1) %
						       g->members->world_size,
					       .tag = -1,
					       .seq = DIST__CONTROL_SEQ,
					       .step = DIST__STEP_WATCH,
					       .data = &g->issued,
					       .bytes = sizeof g->issued};
	struct dist__request *request = NULL;
	enum dist_error error = DIST_OK;

	if (farewell.peer != g->members->rank)
		error = dist__control_send(&g->control, farewell, &request);
	if (!error)
		error = dist__agreed_meet(g, DIST__STEP_GOODBYE, deadline_ns);
	dist__control_drop(&g->control, &request);
	return error;
}

int64_t dist__agreed_deadline_ns(const struct dist__agreed *g)
{
	return dist__deadline_ns(dist__agreed_now_ns(g), g->timeout_ns);
}

enum dist_error dist__agreed_meet(struct dist__agreed *g, uint32_t step,
				  int64_t deadline_ns)
{
	struct dist__backoff backoff = {0};
	struct dist__agreement meeting;
	enum dist_error error;
	bool agreed;

	dist__agreement_start(&meeting, &g->control, DIST__CONTROL_SEQ, step,
			      0);
	for (;;) {
		error = dist__agreement_look(&meeting, &agreed);
		if (!error && !agreed && dist__agreed_now_ns(g) >= deadline_ns)
			error = DIST_ERR_TIMEOUT;
		if (error || agreed)
			break;
		dist__backoff_wait(&backoff);
	}
	dist__agreement_leave(&meeting);
	return error;
}
