#include "scenarios/sweep_call.h"

#include <stdlib.h>
#include <string.h>

#include "lockstep/device.h"
#include "scenarios/pattern.h"

/* Whether the input, the output is a part for each rank. */
static bool has_parts_in(enum collective collective)
{
	return collective == COLLECTIVE_REDUCE_SCATTER ||
	       collective == COLLECTIVE_ALL_TO_ALL ||
	       collective == COLLECTIVE_SCATTER;
}

static bool has_parts_out(enum collective collective)
{
	return collective == COLLECTIVE_ALL_GATHER ||
	       collective == COLLECTIVE_ALL_TO_ALL ||
	       collective == COLLECTIVE_GATHER;
}

static bool has_parts(enum collective collective)
{
	return has_parts_in(collective) || has_parts_out(collective);
}

static struct pattern pattern_of(const struct sweep_call *call)
{
	return (struct pattern){
		.reduces = sweep_reduces(call->job->collective),
		.op = call->job->op,
		.dtype = call->job->dtype,
		.world_size = call->world_size,
	};
}

/* The part numbered i of numel elements each. */
static struct dist_tensor part(const struct sweep_call *call, void *data,
			       size_t numel, int i)
{
	enum dist_dtype dtype = call->job->dtype;
	size_t before = (size_t)i * numel * dist_dtype_size(dtype);

	return dist_tensor(data ? (char *)data + before : NULL, numel, dtype);
}

/* All parts as one tensor. */
static struct dist_tensor whole(const struct sweep_call *call, void *data,
				size_t numel)
{
	return dist_tensor(data, numel * (size_t)call->world_size,
			   call->job->dtype);
}

static enum dist_error allocate(struct sweep_call *call, size_t bytes)
{
	bool apart = !sweep_is_in_place(call->job->collective);
	enum dist_error error;

	call->host = malloc(bytes);
	if (!call->host)
		return DIST_ERR_NO_MEMORY;
	error = dist_device_alloc(call->group, bytes, &call->data);
	if (!error && apart)
		error = dist_device_alloc(call->group, bytes, &call->apart);
	return error;
}

enum dist_error sweep_call_init(struct sweep_call *call,
				const struct sweep *job,
				struct dist_group *group, bool phantom)
{
	*call = (struct sweep_call){
		.job = job,
		.group = group,
		.rank = dist_get_rank(group),
		.world_size = dist_get_world_size(group),
	};
	call->list = calloc((size_t)call->world_size, sizeof *call->list);
	if (!call->list)
		return DIST_ERR_NO_MEMORY;
	return phantom ? DIST_OK
		       : allocate(call, job->max_bytes ? job->max_bytes : 1);
}

void sweep_call_release(struct sweep_call *call)
{
	dist_device_free(call->group, call->data);
	dist_device_free(call->group, call->apart);
	free(call->host);
	free(call->list);
}

size_t sweep_call_numel(const struct sweep_call *call, size_t bytes)
{
	size_t numel = bytes / dist_dtype_size(call->job->dtype);

	return has_parts(call->job->collective)
		       ? numel / (size_t)call->world_size
		       : numel;
}

size_t sweep_call_bytes(const struct sweep_call *call, size_t numel)
{
	size_t bytes = numel * dist_dtype_size(call->job->dtype);

	return has_parts(call->job->collective)
		       ? bytes * (size_t)call->world_size
		       : bytes;
}

/* ---- calling ----------------------------------------------------------- */

void sweep_call_set(struct sweep_call *call, size_t numel)
{
	int parts = has_parts(call->job->collective) ? call->world_size : 1;

	for (int i = 0; i < parts; i++)
		call->list[i] = part(call, call->data, numel, i);
	call->own = call->list[parts > 1 ? call->rank : 0];
	call->other = part(call, call->apart, numel, 0);
	call->all = whole(call, call->data, numel);
	call->all_other = whole(call, call->apart, numel);
}

/* To the next rank, from the previous one, at the same time. */
static enum dist_error sendrecv(const struct sweep_call *call)
{
	int next = (call->rank + 1) % call->world_size;
	int previous = (call->rank + call->world_size - 1) % call->world_size;
	struct dist_work *work;
	enum dist_error error, received;

	error = dist_irecv(call->group, call->other, previous, 0, &work);
	if (error)
		return error;
	error = dist_send(call->group, call->list[0], next, 0);
	received = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error ? error : received;
}

enum dist_error sweep_call_run(const struct sweep_call *call)
{
	const struct sweep *job = call->job;
	struct dist_group *group = call->group;
	const struct dist_tensor *list =
		call->rank == job->root ? call->list : NULL;

	switch (job->collective) {
	case COLLECTIVE_ALL_REDUCE:
		return dist_all_reduce(group, call->list[0], job->op, NULL);
	case COLLECTIVE_BROADCAST:
		return dist_broadcast(group, call->list[0], job->root, NULL);
	case COLLECTIVE_REDUCE:
		return dist_reduce(group, call->list[0], job->root, job->op,
				   NULL);
	case COLLECTIVE_ALL_GATHER:
		return dist_all_gather_single(group, call->all, call->own,
					      NULL);
	case COLLECTIVE_REDUCE_SCATTER:
		return dist_reduce_scatter_single(group, call->own, call->all,
						  job->op, NULL);
	case COLLECTIVE_GATHER:
		return dist_gather(group, call->own, list, job->root, NULL);
	case COLLECTIVE_SCATTER:
		return dist_scatter(group, call->own, list, job->root, NULL);
	case COLLECTIVE_ALL_TO_ALL:
		return dist_all_to_all_single(group, call->all_other, call->all,
					      NULL, NULL, NULL);
	default:
		return sendrecv(call);
	}
}

/* ---- known values ------------------------------------------------------ */

static enum dist_error put(const struct sweep_call *call, size_t numel)
{
	return dist_device_copy(call->group, call->data, call->host,
				sweep_call_bytes(call, numel));
}

enum dist_error sweep_call_clear(const struct sweep_call *call, size_t numel)
{
	if (!call->data)
		return DIST_OK;
	memset(call->host, 0, sweep_call_bytes(call, numel));
	return put(call, numel);
}

enum dist_error sweep_call_fill(const struct sweep_call *call, size_t numel)
{
	struct pattern pattern = pattern_of(call);
	enum collective collective = call->job->collective;
	int own = has_parts_out(collective) ? call->rank : 0;

	for (int i = 0; i < call->world_size && has_parts_in(collective); i++)
		pattern_fill(&pattern, part(call, call->host, numel, i),
			     call->rank, i);
	if (!has_parts_in(collective))
		pattern_fill(&pattern, part(call, call->host, numel, own),
			     call->rank, 0);
	return put(call, numel);
}

/* The elements of the output, now on the host, that are wrong. */
static int64_t count_wrong(const struct sweep_call *call, size_t numel)
{
	struct pattern pattern = pattern_of(call);
	enum collective collective = call->job->collective;
	int own = has_parts_in(collective) ? call->rank : 0;
	int src = call->job->root;
	int64_t wrong = 0;

	if (collective == COLLECTIVE_SENDRECV)
		src = (call->rank + call->world_size - 1) % call->world_size;
	if (!has_parts_out(collective))
		return pattern_count_wrong(
			&pattern, part(call, call->host, numel, own), src, own);
	for (int i = 0; i < call->world_size; i++)
		wrong += pattern_count_wrong(
			&pattern, part(call, call->host, numel, i), i, own);
	return wrong;
}

enum dist_error sweep_call_check(const struct sweep_call *call, size_t numel,
				 int64_t *wrong)
{
	enum collective collective = call->job->collective;
	bool rooted = collective == COLLECTIVE_REDUCE ||
		      collective == COLLECTIVE_GATHER;
	enum dist_error error;

	*wrong = 0;
	if (rooted && call->rank != call->job->root)
		return DIST_OK;
	error = dist_device_copy(call->group, call->host,
				 sweep_is_in_place(collective) ? call->data
							       : call->apart,
				 sweep_call_bytes(call, numel));
	if (!error)
		*wrong = count_wrong(call, numel);
	return error;
}
