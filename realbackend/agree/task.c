/*
 * task.c - an operation in progress: the ranks concerned agree about it, then
 * the library is called, and polled until it is complete.
 */
#include "realbackend/agree/group.h"

#include <stdlib.h>

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
			error = dist__match_ask(g, task);
		else if (op->kind == DIST__ALL_TO_ALL)
			error = dist__agreement_lengths(&task->agreement,
							&op->sides->in,
							&op->sides->out);
	}
	if (error)
		return error;
	if (p2p)
		return dist__match_look(g, task, agreed);
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
