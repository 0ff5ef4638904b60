/* task.c - an operation that all have agreed upon, through NCCL. */
#include "realbackend/nccl/group.h"

#include <stdio.h>
#include <stdlib.h>

static struct dist__nccl_group *nccl(struct dist__agreed *g)
{
	return (struct dist__nccl_group *)g;
}

static struct dist__nccl_task *of(struct dist__task *task)
{
	return (struct dist__nccl_task *)task;
}

void dist__nccl_task_begin(struct dist__agreed *g, struct dist__task *base)
{
	struct dist__nccl_task *task = of(base);

	task->placement.device = nccl(g)->device;
	task->communicator = &nccl(g)->communicator;
}

void dist__nccl_task_end(struct dist__agreed *g, struct dist__task *base)
{
	struct dist__nccl_task *task = of(base);

	dist__placement_leave(&task->placement);
	if (task->event)
		(void)nccl(g)->device->libraries.cuda.EventDestroy(task->event);
}

static enum dist_error cuda_check(struct dist__nccl_group *g, const char *what,
				  unsigned status)
{
	struct dist_message *text = &g->base.text;

	if (status)
		snprintf(text->text, sizeof text->text, "%s: %s", what,
			 g->device->libraries.cuda.GetErrorString(status));
	return dist__cuda_error(status);
}

bool dist__nccl_may_launch(const struct dist__task *base,
			   const struct dist__line *line)
{
	const struct dist__nccl_task *task =
		(const struct dist__nccl_task *)base;

	if (task->communicator->busy)
		return false;
	return task->wire ? task->wire->launched == base->grant.number
			  : !line->held;
}

/* Those who have nothing to move have met, which is all there is to it. */
static bool is_empty(const struct dist__nccl_group *g,
		     const struct dist__op *op)
{
	return op->kind != DIST__BARRIER && op->kind != DIST__ALL_TO_ALL &&
	       dist__op_numel(op, g->caller.world_size) == 0;
}

enum dist_error dist__nccl_launch(struct dist__agreed *base,
				  struct dist__task *line_task, bool *ended)
{
	struct dist__nccl_group *g = nccl(base);
	struct dist__nccl_task *task = of(line_task);
	const struct dist__op *op = line_task->op;
	enum dist_error error;
	int peer = op->peer;

	if (task->wire) {
		task->wire->launched++;
		peer = op->kind == DIST__SEND ? 0 : 1;
	}
	*ended = is_empty(g, op);
	if (*ended)
		return DIST_OK;
	error = dist__placement_enter(&task->placement, op, g->caller.rank);
	return error ? error
		     : dist__launch(task->communicator, &g->caller, op, peer,
				    &task->placement);
}

static enum dist_error mark(struct dist__nccl_group *g,
			    struct dist__nccl_task *task)
{
	const struct dist__libraries *l = &g->device->libraries;
	enum dist_error error;

	error = cuda_check(g, "cudaEventCreateWithFlags",
			   l->cuda.EventCreateWithFlags(
				   &task->event, DIST__CUDA_EVENT_NO_TIMING));
	if (error)
		return error;
	return cuda_check(
		g, "cudaEventRecord",
		l->cuda.EventRecord(task->event, task->communicator->stream));
}

enum dist_error dist__nccl_run(struct dist__agreed *base,
			       struct dist__task *line_task, bool *ended)
{
	struct dist__nccl_group *g = nccl(base);
	struct dist__nccl_task *task = of(line_task);
	enum dist_error error = DIST_OK;
	unsigned status;

	if (!task->event && task->communicator->busy)
		return DIST_OK;
	if (!task->event)
		error = mark(g, task);
	if (error)
		return error;
	status = g->device->libraries.cuda.EventQuery(task->event);
	*ended = status == DIST__CUDA_SUCCESS;
	if (status == DIST__CUDA_NOT_READY)
		return DIST_OK;
	return *ended ? dist__placement_results(&task->placement)
		      : cuda_check(g, "cudaEventQuery", status);
}
