#include "realbackend/nccl/group.h"

#include <stdio.h>
#include <stdlib.h>

struct dist__task *dist__task_new(struct dist__nccl_group *g,
				  struct dist__op *op)
{
	struct dist__task *task = calloc(1, sizeof *task);
	struct dist__task **end = &g->tasks;

	if (!task)
		return NULL;
	task->op = op;
	task->placement.device = g->device;
	task->communicator = &g->communicator;
	dist__agreement_start(&task->agreement, &g->control, op->seq, 0,
			      op->fingerprint);
	while (*end)
		end = &(*end)->next;
	*end = task;
	return task;
}

void dist__task_end(struct dist__nccl_group *g, struct dist__task *task,
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
	dist__placement_leave(&task->placement);
	if (task->event)
		(void)g->device->libraries.cuda.EventDestroy(task->event);
	free(task);
	dist__op_finish(op, error, dist__nccl_now_ns(g));
}

/* ---- on its way -------------------------------------------------------- */

static enum dist_error cuda_check(struct dist__nccl_group *g, const char *what,
				  unsigned status)
{
	if (status)
		snprintf(g->text.text, sizeof g->text.text, "%s: %s", what,
			 g->device->libraries.cuda.GetErrorString(status));
	return dist__cuda_error(status);
}

/* Messages match in any order, but of the collectives one at a time agrees. */
static enum dist_error agree(struct dist__nccl_group *g,
			     struct dist__task *task, struct dist__line *line,
			     bool *agreed)
{
	const struct dist__op *op = task->op;
	enum dist_error error = DIST_OK;
	bool first = op->started_ns == 0, p2p = dist__op_is_p2p(op->kind);

	*agreed = false;
	if (!p2p && line->agreeing)
		return DIST_OK;
	if (first) {
		task->op->started_ns = dist__nccl_now_ns(g);
		if (p2p)
			error = dist__wire_ask(g, task);
		else if (op->kind == DIST__ALL_TO_ALL)
			error = dist__agreement_lengths(&task->agreement,
							&op->sides->in,
							&op->sides->out);
	}
	if (error)
		return error;
	return p2p ? dist__wire_look(g, task, agreed)
		   : dist__agreement_look(&task->agreement, agreed);
}

static bool may_launch(const struct dist__task *task,
		       const struct dist__line *line)
{
	if (task->communicator->busy)
		return false;
	return task->wire ? task->wire->launched == task->grant.number
			  : !line->held;
}

/* Those who have nothing to move have met, which is all there is to it. */
static bool is_empty(const struct dist__nccl_group *g,
		     const struct dist__op *op)
{
	return op->kind != DIST__BARRIER && op->kind != DIST__ALL_TO_ALL &&
	       dist__op_numel(op, g->caller.world_size) == 0;
}

static enum dist_error launch(struct dist__nccl_group *g,
			      struct dist__task *task, bool *ended)
{
	const struct dist__op *op = task->op;
	enum dist_error error;
	int peer = op->peer;

	if (task->wire) {
		task->wire->launched++;
		peer = op->kind == DIST__SEND ? 0 : 1;
	}
	task->state = DIST__TASK_LAUNCHED;
	*ended = is_empty(g, op);
	if (*ended)
		return DIST_OK;
	error = dist__placement_enter(&task->placement, op, g->caller.rank);
	return error ? error
		     : dist__launch(task->communicator, &g->caller, op, peer,
				    &task->placement);
}

static enum dist_error mark(struct dist__nccl_group *g, struct dist__task *task)
{
	const struct dist__libraries *l = &g->device->libraries;
	enum dist_error error;

	error = cuda_check(g, "cudaEventCreateWithFlags",
			   l->cuda.EventCreateWithFlags(
				   &task->event, DIST__CUDA_EVENT_NO_TIMING));
	if (error)
		return error;
	task->state = DIST__TASK_RUNNING;
	return cuda_check(
		g, "cudaEventRecord",
		l->cuda.EventRecord(task->event, task->communicator->stream));
}

static enum dist_error run(struct dist__nccl_group *g, struct dist__task *task,
			   bool *ended)
{
	const struct dist__libraries *l = &g->device->libraries;
	unsigned status = l->cuda.EventQuery(task->event);

	*ended = status == DIST__CUDA_SUCCESS;
	if (status == DIST__CUDA_NOT_READY)
		return DIST_OK;
	return *ended ? dist__placement_results(&task->placement)
		      : cuda_check(g, "cudaEventQuery", status);
}

enum dist_error dist__task_look(struct dist__nccl_group *g,
				struct dist__task *task,
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
	    may_launch(task, line))
		error = launch(g, task, ended);
	if (!error && !*ended && task->state == DIST__TASK_LAUNCHED &&
	    !task->communicator->busy)
		error = mark(g, task);
	if (!error && task->state == DIST__TASK_RUNNING)
		error = run(g, task, ended);
	*moved |= *ended || task->state != before;
	if (!dist__op_is_p2p(task->op->kind)) {
		line->agreeing |= task->state == DIST__TASK_AGREEING;
		line->held |= task->state < DIST__TASK_LAUNCHED;
	}
	return error;
}
