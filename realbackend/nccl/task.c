/* task.c - runs an operation through NCCL, after all have agreed. */
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

	task->only.op = base->op;
	task->only.communicator = &nccl(g)->communicator;
	task->only.caller = nccl(g)->caller;
	task->only.placement.device = nccl(g)->device;
	task->shares = &task->only;
	task->num_shares = 1;
}

void dist__nccl_task_end(struct dist__agreed *g, struct dist__task *base)
{
	const struct dist__libraries *l = &nccl(g)->device->libraries;
	struct dist__nccl_task *task = of(base);

	for (size_t i = 0; i < task->num_shares; i++) {
		dist__placement_leave(&task->shares[i].placement);
		if (task->shares[i].event)
			(void)l->cuda.EventDestroy(task->shares[i].event);
	}
	if (task->shares != &task->only)
		free(task->shares);
	free(task->views);
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

static bool is_busy(const struct dist__nccl_task *task)
{
	for (size_t i = 0; i < task->num_shares; i++)
		if (task->shares[i].communicator->busy)
			return true;
	return false;
}

bool dist__nccl_may_launch(const struct dist__task *base,
			   const struct dist__line *line)
{
	const struct dist__nccl_task *task =
		(const struct dist__nccl_task *)base;

	if (is_busy(task))
		return false;
	return task->wire ? task->wire->launched == base->grant.number
			  : !line->held;
}

/* In the numbers of the communicator. */
static int peer_of(const struct dist__nccl_task *task)
{
	if (task->wire)
		return task->base.op->kind == DIST__SEND ? 0 : 1;
	return task->shares->op->peer;
}

/* Of several devices all in one group of NCCL's, which takes them as one. */
static enum dist_error launch_shares(struct dist__nccl_group *g,
				     struct dist__nccl_task *task)
{
	const struct dist__nccl_functions *l = &g->device->libraries.nccl;
	struct dist__share *s = task->shares;
	enum dist_error error, end;

	if (task->num_shares == 1)
		return dist__launch(s->communicator, &s->caller, s->op,
				    peer_of(task), &s->placement);
	error = dist__communicator_check(s->communicator, "ncclGroupStart",
					 l->GroupStart());
	for (size_t i = 0; i < task->num_shares && !error; i++) {
		dist__device_use(s[i].communicator->device);
		error = dist__launch(s[i].communicator, &s[i].caller, s[i].op,
				     s[i].op->peer, &s[i].placement);
	}
	dist__device_use(g->device);
	end = dist__communicators_end(s->communicator, task->num_shares);
	return error ? error : end;
}

enum dist_error dist__nccl_launch(struct dist__agreed *base,
				  struct dist__task *line_task, bool *ended)
{
	struct dist__nccl_group *g = nccl(base);
	struct dist__nccl_task *task = of(line_task);
	enum dist_error error = DIST_OK;

	if (task->wire)
		task->wire->launched++;
	*ended = line_task->op->kind != DIST__BARRIER &&
		 line_task->op->kind != DIST__ALL_TO_ALL &&
		 dist__op_numel(line_task->op, g->caller.world_size) == 0;
	if (*ended)
		return DIST_OK;
	for (size_t i = 0; i < task->num_shares && !error; i++) {
		struct dist__share *s = &task->shares[i];

		error = dist__placement_enter(&s->placement, s->op,
					      s->caller.rank);
	}
	return error ? error : launch_shares(g, task);
}

static enum dist_error mark_share(struct dist__nccl_group *g,
				  struct dist__share *s)
{
	const struct dist__libraries *l = &g->device->libraries;
	enum dist_error error;

	error = cuda_check(g, "cudaEventCreateWithFlags",
			   l->cuda.EventCreateWithFlags(
				   &s->event, DIST__CUDA_EVENT_NO_TIMING));
	return error ? error
		     : cuda_check(g, "cudaEventRecord",
				  l->cuda.EventRecord(s->event,
						      s->communicator->stream));
}

/* An event is of the device that is current when it is made. */
static enum dist_error mark(struct dist__nccl_group *g,
			    struct dist__nccl_task *task)
{
	enum dist_error error = DIST_OK;

	if (task->num_shares == 1)
		return mark_share(g, task->shares);
	for (size_t i = 0; i < task->num_shares && !error; i++) {
		dist__device_use(task->shares[i].communicator->device);
		error = mark_share(g, &task->shares[i]);
	}
	dist__device_use(g->device);
	return error;
}

enum dist_error dist__nccl_run(struct dist__agreed *base,
			       struct dist__task *line_task, bool *ended)
{
	struct dist__nccl_group *g = nccl(base);
	struct dist__nccl_task *task = of(line_task);
	struct dist__share *s = task->shares;
	enum dist_error error = DIST_OK;
	unsigned status;

	if (!s->event && is_busy(task))
		return DIST_OK;
	if (!s->event)
		error = mark(g, task);
	for (size_t i = 0; i < task->num_shares && !error; i++) {
		status = g->device->libraries.cuda.EventQuery(s[i].event);
		if (status == DIST__CUDA_NOT_READY)
			return DIST_OK;
		error = cuda_check(g, "cudaEventQuery", status);
	}
	*ended = !error;
	for (size_t i = 0; i < task->num_shares && !error; i++)
		error = dist__placement_results(&s[i].placement);
	return error;
}
