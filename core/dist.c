/*
 * dist.c - the entry points: validate once, describe the operation, submit it.
 *
 * Everything below this file trusts the descriptor.
 */
#include "core/group.h"

#include <stdio.h>
#include <string.h>

#include "check/record.h"
#include "core/reduce.h"

/* The macros of dist.h note the caller's line; here are the functions. */
#undef dist_all_reduce
#undef dist_reduce
#undef dist_broadcast
#undef dist_barrier
#undef dist_all_gather_single
#undef dist_all_gather
#undef dist_reduce_scatter_single
#undef dist_reduce_scatter
#undef dist_all_to_all_single
#undef dist_all_to_all
#undef dist_gather
#undef dist_scatter
#undef dist_send
#undef dist_recv
#undef dist_isend
#undef dist_irecv

static uint64_t mix(uint64_t hash, uint64_t word)
{
	/* FNV-1a, a byte at a time: draft-eastlake-fnv. */
	for (int i = 0; i < 8; i++, word >>= 8)
		hash = (hash ^ (word & 0xff)) * UINT64_C(1099511628211);
	return hash;
}

/* The lengths of parts, by rank; equal ones that follow each other count as
 * one, so that parts in one tensor and in a list agree. */
static uint64_t mix_parts(uint64_t hash, const struct dist__parts *parts)
{
	size_t numel = 0;

	if (!parts->list)
		return mix(mix(hash, 0), dist__part(parts, 0).numel);
	for (int rank = 0; rank < parts->count; rank++) {
		if (rank > 0 && parts->list[rank].numel == numel)
			continue;
		numel = parts->list[rank].numel;
		hash = mix(mix(hash, (uint64_t)rank), numel);
	}
	return hash;
}

/* What every rank of the operation must agree about. What two ranks exchange in
 * an all-to-all only they can compare, by the size of the message. */
static uint64_t fingerprint(const struct dist__op *op, int world_size)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	bool p2p = dist__op_is_p2p(op->kind);

	hash = mix(hash, p2p ? DIST__SEND : op->kind);
	if (op->kind == DIST__ALL_GATHER)
		hash = mix_parts(hash, &op->out);
	else if (op->kind == DIST__REDUCE_SCATTER)
		hash = mix_parts(hash, &op->in);
	else if (op->kind != DIST__ALL_TO_ALL)
		hash = mix(hash, dist__op_numel(op, world_size));
	hash = mix(hash, op->tensor.dtype);
	hash = mix(hash, op->reduce_op);
	return mix(hash, p2p ? 0 : (uint64_t)op->peer);
}

/* What an operation needs of its arguments. */
struct demand {
	bool peer;  /* a rank of the group */
	bool other; /* and not oneself */
	const char *peer_name;
};

static const struct demand demands[DIST__OP_KINDS] = {
	[DIST__REDUCE] = {.peer = true, .peer_name = "dst"},
	[DIST__BROADCAST] = {.peer = true, .peer_name = "src"},
	[DIST__GATHER] = {.peer = true, .peer_name = "dst"},
	[DIST__SCATTER] = {.peer = true, .peer_name = "src"},
	[DIST__SEND] = {.peer = true, .other = true, .peer_name = "dst"},
	[DIST__RECV] = {.peer = true, .other = true, .peer_name = "src"},
};

/* Names to choose from. */
struct choice {
	size_t num;
	const char *names[DIST_NUM_DTYPES > DIST_NUM_REDUCE_OPS
				  ? DIST_NUM_DTYPES
				  : DIST_NUM_REDUCE_OPS];
	char text[128];
};

/* Joins the names as "a, b or c". */
static const char *words(struct choice *choice)
{
	size_t used = 0, size = sizeof choice->text;

	for (size_t i = 0; i < choice->num && used < size; i++) {
		const char *before = i + 1 < choice->num ? ", " : " or ";

		used += (size_t)snprintf(choice->text + used, size - used,
					 "%s%s", i > 0 ? before : "",
					 choice->names[i]);
	}
	return choice->text;
}

static enum dist_error check_dtype(struct dist_group *group,
				   const struct dist__op *op)
{
	struct choice all = {.num = 0};

	if (dist_dtype_size(op->tensor.dtype) > 0)
		return DIST_OK;
	for (; all.num < DIST_NUM_DTYPES; all.num++)
		all.names[all.num] = dist_dtype_name((enum dist_dtype)all.num);
	return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
			  "%s: dtype %d is none: expected %s",
			  dist__op_name(op->kind), (int)op->tensor.dtype,
			  words(&all));
}

/* An op that reduces nothing has SUM here, which is legal everywhere. */
static enum dist_error check_reduce_op(struct dist_group *group,
				       const struct dist__op *op)
{
	const char *name = dist__op_name(op->kind);
	struct choice legal = {.num = 0};
	int i;

	if ((unsigned)op->reduce_op >= DIST_NUM_REDUCE_OPS) {
		for (i = 0; i < DIST_NUM_REDUCE_OPS; i++)
			legal.names[legal.num++] =
				dist_reduce_op_name((enum dist_reduce_op)i);
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: reduce op %d is none: expected %s", name,
				  (int)op->reduce_op, words(&legal));
	}
	if (dist__reduce_has(op->tensor.dtype, op->reduce_op))
		return DIST_OK;
	for (i = 0; i < DIST_NUM_DTYPES; i++)
		if (dist__reduce_has((enum dist_dtype)i, op->reduce_op))
			legal.names[legal.num++] =
				dist_dtype_name((enum dist_dtype)i);
	return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
			  "%s: %s of %s: expected %s", name,
			  dist_reduce_op_name(op->reduce_op),
			  dist_dtype_name(op->tensor.dtype), words(&legal));
}

static enum dist_error check_tensor(struct dist_group *group,
				    const struct dist__op *op)
{
	const char *name = dist__op_name(op->kind);
	enum dist_error error = check_dtype(group, op);
	size_t element = dist_dtype_size(op->tensor.dtype);

	if (error)
		return error;
	if (op->tensor.numel > (size_t)PTRDIFF_MAX / element)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: numel %zu is more than memory holds "
				  "(a negative number?)",
				  name, op->tensor.numel);
	error = check_reduce_op(group, op);
	if (error)
		return error;
	if (!op->tensor.data && op->tensor.numel && !group->world->has_phantoms)
		return dist__fail(group, DIST_ERR_UNSUPPORTED,
				  "%s: a tensor without data (phantom) needs "
				  "a simulated world, this one is %s",
				  name, group->world->name);
	return DIST_OK;
}

/* Also notes whether op is a phantom. */
static enum dist_error check_arguments(struct dist_group *group,
				       struct dist__op *op)
{
	const struct demand *demand = &demands[op->kind];
	const char *name = dist__op_name(op->kind);
	int size = group->members.world_size;
	enum dist_error error;

	if (group->poison)
		return dist__fail(group, DIST_ERR_ABORTED,
				  "%s: the group failed earlier: %s", name,
				  dist_error_string(group->poison));
	if (demand->peer && (op->peer < 0 || op->peer >= size))
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s is %d: expected 0 to %d", name,
				  demand->peer_name, op->peer, size - 1);
	if (demand->other && op->peer == group->members.rank)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s is %d, the caller itself", name,
				  demand->peer_name, op->peer);
	if (dist__op_is_p2p(op->kind) && op->tag < 0)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: tag is %d: expected 0 or more", name,
				  op->tag);
	error = check_tensor(group, op);
	return error ? error : dist__parts_check(group, op);
}

/* Writes the call into the rank's records and returns its number. */
static uint32_t record(struct dist_group *group, const struct dist__op *op)
{
	struct check_call call = {
		.group_id = group->members.group_id,
		.group_size = (uint32_t)group->members.world_size,
		.index = op->seq,
		.peer = op->peer,
		.tag = op->tag,
		.numel = dist__op_numel(op, group->members.world_size),
		.issued_ns = op->issued_ns,
	};

	snprintf(call.op, sizeof call.op, "%s", dist__op_name(op->kind));
	snprintf(call.group, sizeof call.group, "%s", group->name);
	if (op->kind != DIST__BARRIER)
		snprintf(call.dtype, sizeof call.dtype, "%s",
			 dist_dtype_name(op->tensor.dtype));
	if (dist__op_reduces(op->kind))
		snprintf(call.reduce_op, sizeof call.reduce_op, "%s",
			 dist_reduce_op_name(op->reduce_op));
	check_site_set(&call.site, op->site.file, op->site.line);
	return check_issue(group->place.slot, &call);
}

/* Runs op, which lives here, to its end. A failed call stays in the records
 * as the one that the rank waits in: that is where it got stuck. */
static enum dist_error run_here(struct dist_group *group, struct dist__op *op)
{
	struct check_slot *slot = group->place.slot;
	enum dist_error error;

	check_wait(slot, op->call, NULL);
	error = group->backend->ops->run(group->backend, op);
	check_end(slot, op->call, error, op->ended_ns);
	if (error)
		return dist__fail(group, error, "%s: %s",
				  dist__op_name(op->kind),
				  dist_error_string(error));
	check_resume(slot);
	return DIST_OK;
}

enum dist_error dist__submit(struct dist_group *group,
			     const struct dist__op *request,
			     struct dist_work **work)
{
	struct dist__op op = *request;
	struct dist_work *handle;
	enum dist_error error;

	error = check_arguments(group, &op);
	if (error)
		return error;
	op.site = group->site;
	group->site = (struct dist__site){NULL, 0};
	op.seq = dist__op_is_p2p(op.kind) ? 0 : group->next_seq++;
	op.fingerprint = fingerprint(&op, group->members.world_size);
	op.issued_ns = group->backend->ops->now_ns(group->backend);
	op.deadline_ns =
		group->place.timeout_ns >= DIST_TIMEOUT_NEVER - op.issued_ns
			? DIST_TIMEOUT_NEVER
			: op.issued_ns + group->place.timeout_ns;
	op.call = record(group, &op);
	if (!work)
		return run_here(group, &op);
	handle = dist__work_new(group, &op);
	error = handle ? group->backend->ops->submit(group->backend,
						     &handle->op)
		       : DIST_ERR_NO_MEMORY;
	if (error) {
		check_end(group->place.slot, op.call, error, op.issued_ns);
		dist__work_drop(handle);
		return dist__fail(group, error, "%s: %s",
				  dist__op_name(op.kind),
				  dist_error_string(error));
	}
	*work = handle;
	return DIST_OK;
}

enum dist_error dist_all_reduce(struct dist_group *group,
				struct dist_tensor tensor,
				enum dist_reduce_op op, struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__ALL_REDUCE,
				   .tensor = tensor,
				   .reduce_op = op,
				   .peer = -1,
				   .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_reduce(struct dist_group *group, struct dist_tensor tensor,
			    int dst, enum dist_reduce_op op,
			    struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__REDUCE,
				   .tensor = tensor,
				   .reduce_op = op,
				   .peer = dst,
				   .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_broadcast(struct dist_group *group,
			       struct dist_tensor tensor, int src,
			       struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__BROADCAST,
				   .tensor = tensor,
				   .peer = src,
				   .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_barrier(struct dist_group *group, struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__BARRIER, .peer = -1, .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

/* ---- a part for each rank --------------------------------------------- */

/* Parts that follow each other in whole; splits may be NULL. */
static struct dist__parts cut(const struct dist_group *group,
			      struct dist_tensor whole, const size_t *splits)
{
	return (struct dist__parts){.count = group->members.world_size,
				    .whole = whole,
				    .splits = splits};
}

/* The parts of a list; there are none when it is NULL. */
static struct dist__parts listed(const struct dist_group *group,
				 const struct dist_tensor *list)
{
	return (struct dist__parts){
		.count = list ? group->members.world_size : 0, .list = list};
}

/* Refuses a list that is missing on a rank that needs one, or given on one
 * that must not. */
static enum dist_error check_list(struct dist_group *group,
				  enum dist__op_kind kind, const char *name,
				  const struct dist_tensor *list, bool needed)
{
	if (needed == (list != NULL))
		return DIST_OK;
	return dist__fail(
		group, DIST_ERR_INVALID_ARGUMENT,
		needed ? "%s: %s is NULL: expected a tensor for each "
			 "of %d ranks"
		       : "%s: %s: expected NULL, on every of %d ranks "
			 "but the root",
		dist__op_name(kind), name, group->members.world_size);
}

enum dist_error dist_all_gather_single(struct dist_group *group,
				       struct dist_tensor out,
				       struct dist_tensor in,
				       struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__ALL_GATHER, .tensor = in, .peer = -1, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	request.out = cut(group, out, NULL);
	return dist__submit(group, &request, work);
}

enum dist_error dist_all_gather(struct dist_group *group,
				const struct dist_tensor *out_list,
				struct dist_tensor in, struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__ALL_GATHER, .tensor = in, .peer = -1, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "out_list", out_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	request.out = listed(group, out_list);
	return dist__submit(group, &request, work);
}

enum dist_error dist_reduce_scatter_single(struct dist_group *group,
					   struct dist_tensor out,
					   struct dist_tensor in,
					   enum dist_reduce_op op,
					   struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__REDUCE_SCATTER,
				   .tensor = out,
				   .reduce_op = op,
				   .peer = -1,
				   .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	request.in = cut(group, in, NULL);
	return dist__submit(group, &request, work);
}

enum dist_error dist_reduce_scatter(struct dist_group *group,
				    struct dist_tensor out,
				    const struct dist_tensor *in_list,
				    enum dist_reduce_op op,
				    struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__REDUCE_SCATTER,
				   .tensor = out,
				   .reduce_op = op,
				   .peer = -1,
				   .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "in_list", in_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	request.in = listed(group, in_list);
	return dist__submit(group, &request, work);
}

enum dist_error
dist_all_to_all_single(struct dist_group *group, struct dist_tensor out,
		       struct dist_tensor in, const size_t *out_splits,
		       const size_t *in_splits, struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__ALL_TO_ALL,
				   .tensor = {.dtype = in.dtype},
				   .peer = -1,
				   .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	request.in = cut(group, in, in_splits);
	request.out = cut(group, out, out_splits);
	return dist__submit(group, &request, work);
}

enum dist_error dist_all_to_all(struct dist_group *group,
				const struct dist_tensor *out_list,
				const struct dist_tensor *in_list,
				struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__ALL_TO_ALL, .peer = -1, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "out_list", out_list, true) ||
	    check_list(group, request.kind, "in_list", in_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	request.in = listed(group, in_list);
	request.out = listed(group, out_list);
	request.tensor.dtype = in_list[0].dtype;
	return dist__submit(group, &request, work);
}

enum dist_error dist_gather(struct dist_group *group, struct dist_tensor in,
			    const struct dist_tensor *out_list, int dst,
			    struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__GATHER, .tensor = in, .peer = dst, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "out_list", out_list,
		       dst == group->members.rank))
		return DIST_ERR_INVALID_ARGUMENT;
	request.out = listed(group, out_list);
	return dist__submit(group, &request, work);
}

enum dist_error dist_scatter(struct dist_group *group, struct dist_tensor out,
			     const struct dist_tensor *in_list, int src,
			     struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__SCATTER, .tensor = out, .peer = src, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "in_list", in_list,
		       src == group->members.rank))
		return DIST_ERR_INVALID_ARGUMENT;
	request.in = listed(group, in_list);
	return dist__submit(group, &request, work);
}

/* ---- point to point --------------------------------------------------- */

static enum dist_error p2p(struct dist_group *group, enum dist__op_kind kind,
			   struct dist_tensor tensor, int peer, int tag,
			   struct dist_work **work)
{
	struct dist__op request = {
		.kind = kind, .tensor = tensor, .peer = peer, .tag = tag};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_send(struct dist_group *group, struct dist_tensor tensor,
			  int dst, int tag)
{
	return p2p(group, DIST__SEND, tensor, dst, tag, NULL);
}

enum dist_error dist_recv(struct dist_group *group, struct dist_tensor tensor,
			  int src, int tag)
{
	return p2p(group, DIST__RECV, tensor, src, tag, NULL);
}

enum dist_error dist_isend(struct dist_group *group, struct dist_tensor tensor,
			   int dst, int tag, struct dist_work **work)
{
	if (!work)
		return DIST_ERR_INVALID_ARGUMENT;
	return p2p(group, DIST__SEND, tensor, dst, tag, work);
}

enum dist_error dist_irecv(struct dist_group *group, struct dist_tensor tensor,
			   int src, int tag, struct dist_work **work)
{
	if (!work)
		return DIST_ERR_INVALID_ARGUMENT;
	return p2p(group, DIST__RECV, tensor, src, tag, work);
}
