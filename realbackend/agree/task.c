/*
 * task.c - an operation in progress: the ranks concerned agree about it, then
 * the library is called, and polled until it is complete. How a send is matched
 * with its receive:
 *
 *	sender                            receiver
 *	isend: asks (tag, fingerprint) -> irecv of that tag takes the question
 *	launches its send             <-  grants a number, launches its receive
 *
 * The transport matches the question by peer and tag and compares the
 * fingerprints. A grant answers one question, by the sender's number of it, and
 * gives both ends the library's number of the message: each end launches only
 * what the other launches, too.
 */
#include "realbackend/agree/group.h"

#include <stdlib.h>

/* Steps of the two messages; seq is 0 as of every point-to-point message, and
 * in an answer the number of the question. */
enum { ASK, GRANT };

static struct dist__message message_of(const struct dist__task *task,
				       uint32_t step)
{
	return (struct dist__message){.peer = task->peer,
				      .tag = task->op->tag,
				      .step = step,
				      .fingerprint = task->op->fingerprint};
}

static struct dist__message grant_of(const struct dist__agreed *g,
				     struct dist__task *task)
{
	struct dist__message m = message_of(task, GRANT);

	m.seq = task->question;
	m.data = &task->grant;
	m.bytes = g->library->grant_bytes;
	return m;
}

/* Begins to match a point-to-point task with the peer's. Errors: the
 * transport's, NO_MEMORY. */
static enum dist_error match_ask(struct dist__agreed *g,
				 struct dist__task *task)
{
	struct dist__message ask;
	enum dist_error error;

	task->peer = task->op->peer;
	task->source = -1;
	ask = message_of(task, ASK);
	ask.data = &task->question;
	ask.bytes = sizeof task->question;
	if (task->op->kind == DIST__RECV) {
		ask.members = g->members;
		ask.source = &task->source;
		return dist__control_receive(&g->control, ask, &task->ask);
	}
	task->question = g->questions++;
	error = dist__control_receive(&g->control, grant_of(g, task),
				      &task->answer);
	return error ? error : dist__control_send(&g->control, ask, &task->ask);
}

static enum dist_error granted(struct dist__agreed *g, struct dist__task *task)
{
	return g->library->granted ? g->library->granted(g, task) : DIST_OK;
}

static enum dist_error look_as_sender(struct dist__agreed *g,
				      struct dist__task *task, bool *agreed)
{
	enum dist_error error = DIST_OK;

	*agreed = dist__control_ended(&g->control, &task->ask, &error);
	*agreed &= dist__control_ended(&g->control, &task->answer, &error);
	return error || !*agreed ? error : granted(g, task);
}

static enum dist_error grant(struct dist__agreed *g, struct dist__task *task)
{
	enum dist_error error = g->library->grant(g, task);

	task->is_granted = true;
	if (!error)
		error = dist__control_send(&g->control, grant_of(g, task),
					   &task->answer);
	return error ? error : granted(g, task);
}

static enum dist_error look_as_receiver(struct dist__agreed *g,
					struct dist__task *task, bool *agreed)
{
	enum dist_error error = DIST_OK;

	*agreed = false;
	if (!dist__control_ended(&g->control, &task->ask, &error))
		return DIST_OK;
	if (dist__op_is_any(task->op) && task->source >= 0) {
		task->peer = dist__group_rank(g->members, task->source);
		task->op->source = task->peer;
	}
	if (!error && !task->is_granted)
		error = grant(g, task);
	/* The answer must be on its way before the task may end. */
	if (!error)
		*agreed =
			dist__control_ended(&g->control, &task->answer, &error);
	return error;
}

/* ---- tasks -------------------------------------------------------------- */

struct dist__task *dist__task_new(struct dist__agreed *g, struct dist__op *op)
{
	struct dist__task *task = calloc(1, g->library->task_bytes);
	struct dist__task **end = &g->tasks;

	if (!task)
		return NULL;
	task->op = op;
	dist__agreement_start(&task->agreement, &g->control, op->seq, 0,
			      op->fingerprint);
	if (g->library->task_begin)
		g->library->task_begin(g, task);
	while (*end)
		end = &(*end)->next;
	*end = task;
	return task;
}

void dist__task_end(struct dist__agreed *g, struct dist__task *task,
		    enum dist_error error)
{
	struct dist__op *op = task->op;
	struct dist__task **link = &g->tasks;

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	dist__agreement_leave(&task->agreement);
	dist__control_drop(&g->control, &task->ask);
	dist__control_drop(&g->control, &task->answer);
	g->library->task_end(g, task);
	free(task);
	dist__op_finish(op, error, dist__agreed_now_ns(g));
}

/* Messages match in any order, but of the collectives one at a time agrees. */
static enum dist_error agree(struct dist__agreed *g, struct dist__task *task,
			     struct dist__line *line, bool *agreed)
{
	struct dist__op *op = task->op;
	enum dist_error error = DIST_OK;
	bool first = op->started_ns == 0, p2p = dist__op_is_p2p(op->kind);

	*agreed = false;
	if (!p2p && line->agreeing)
		return DIST_OK;
	if (first) {
		op->started_ns = dist__agreed_now_ns(g);
		task->agreement.vote =
			g->library->may_block && g->library->may_block(g, task);
		if (p2p)
			error = match_ask(g, task);
		else if (op->kind == DIST__ALL_TO_ALL)
			error = dist__agreement_lengths(&task->agreement,
							&op->sides->in,
							&op->sides->out);
	}
	if (error)
		return error;
	if (p2p)
		return task->op->kind == DIST__RECV
			       ? look_as_receiver(g, task, agreed)
			       : look_as_sender(g, task, agreed);
	error = dist__agreement_look(&task->agreement, agreed);
	if (!error && *agreed &&
	    dist__op_sides(op)->bundle.kind == DIST__DEVICES)
		error = g->library->devices(g, task, agreed);
	return error;
}

static bool may_launch(const struct dist__agreed *g,
		       const struct dist__task *task,
		       const struct dist__line *line)
{
	if (g->library->may_launch)
		return g->library->may_launch(task, line);
	return dist__op_is_p2p(task->op->kind) || !line->open;
}

enum dist_error dist__task_look(struct dist__agreed *g, struct dist__task *task,
				struct dist__line *line, bool *moved,
				bool *ended)
{
	enum dist__task_state before = task->state;
	enum dist_error error = DIST_OK;
	bool agreed;

	*ended = false;
	if (task->state == DIST__TASK_AGREEING) {
		error = agree(g, task, line, &agreed);
		if (!error && agreed)
			task->state = DIST__TASK_AGREED;
	}
	if (!error && task->state == DIST__TASK_AGREED &&
	    may_launch(g, task, line)) {
		task->state = DIST__TASK_RUNNING;
		dist__op_begin(task->op);
		error = g->library->launch(g, task, ended);
	}
	if (!error && !*ended && task->state == DIST__TASK_RUNNING)
		error = g->library->run(g, task, ended);
	*moved |= *ended || task->state != before;
	if (!dist__op_is_p2p(task->op->kind)) {
		line->agreeing |= task->state == DIST__TASK_AGREEING;
		line->held |= task->state < DIST__TASK_RUNNING;
		line->open |= !*ended;
	}
	return error;
}
