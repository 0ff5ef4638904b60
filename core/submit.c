/*
 * submit.c - checks an operation once, numbers it, records it, submits it.
 *
 * All code below this file relies on the descriptor.
 */
#include "base/hash.h"
#include "core/state.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "check/record.h"
#include "core/call_cache.h"
#include "core/capability.h"
#include "core/reduce.h"
#include "core/buffer_check.h"

/* What an operation needs of its arguments. */
struct demand {
	bool peer;  /* a rank of the group */
	bool other; /* and not oneself */
	bool any;   /* or DIST_ANY_SOURCE */
	const char *peer_name;
};

static const struct demand demands[DIST__OP_KINDS] = {
	[DIST__REDUCE] = {.peer = true, .peer_name = "dst"},
	[DIST__BROADCAST] = {.peer = true, .peer_name = "src"},
	[DIST__GATHER] = {.peer = true, .peer_name = "dst"},
	[DIST__SCATTER] = {.peer = true, .peer_name = "src"},
	[DIST__SEND] = {.peer = true, .other = true, .peer_name = "dst"},
	[DIST__RECV] = {.peer = true,
			.other = true,
			.any = true,
			.peer_name = "src"},
};

/* Names to choose from. */
struct choice {
	size_t num;
	const char *names[DIST_NUM_DTYPES > DIST_NUM_REDUCE_OPS
				  ? DIST_NUM_DTYPES
				  : DIST_NUM_REDUCE_OPS];
	char text[192];
};

/* Joins the names as "a, b or c". */
static const char *text(struct choice *choice)
{
	for (size_t i = 0; i < choice->num; i++) {
		const char *before = i + 1 < choice->num ? ", " : " or ";

		(void)dist__append(choice->text, sizeof choice->text, "%s%s",
				   i > 0 ? before : "", choice->names[i]);
	}
	return choice->text;
}

static enum dist_error refuse_world_op(struct dist_group *group,
				       const struct dist__op *op)
{
	struct choice able = {.num = 0};

	for (int i = 0; i < DIST_NUM_REDUCE_OPS; i++)
		if (dist__world_reduces(group->world, (enum dist_reduce_op)i,
					op->tensor.dtype))
			able.names[able.num++] =
				dist_reduce_op_name((enum dist_reduce_op)i);
	if (able.num == 0)
		return dist__fail(group, DIST_ERR_UNSUPPORTED,
				  "%s: back end %s does not combine %s",
				  dist__op_name(op->kind), group->world->name,
				  dist_dtype_name(op->tensor.dtype));
	return dist__fail(group, DIST_ERR_UNSUPPORTED,
			  "%s: %s is not in back end %s: expected %s",
			  dist__op_name(op->kind),
			  dist_reduce_op_name(op->reduce_op),
			  group->world->name, text(&able));
}

static enum dist_error refuse_pair(struct dist_group *group,
				   const struct dist__op *op)
{
	struct choice legal = {.num = 0};

	for (int i = 0; i < DIST_NUM_DTYPES; i++)
		if (dist__reduce_has((enum dist_dtype)i, op->reduce_op))
			legal.names[legal.num++] =
				dist_dtype_name((enum dist_dtype)i);
	return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
			  "%s: %s of %s: expected %s", dist__op_name(op->kind),
			  dist_reduce_op_name(op->reduce_op),
			  dist_dtype_name(op->tensor.dtype), text(&legal));
}

/* What is legal may still be more than this world's library has. */
static enum dist_error check_reduce_op(struct dist_group *group,
				       const struct dist__op *op)
{
	enum dist_dtype dtype = op->tensor.dtype;

	if (!dist__op_reduces(op->kind))
		return DIST_OK;
	if ((unsigned)op->reduce_op >= DIST_NUM_REDUCE_OPS) {
		struct choice legal = {.num = 0};

		for (int i = 0; i < DIST_NUM_REDUCE_OPS; i++)
			legal.names[legal.num++] =
				dist_reduce_op_name((enum dist_reduce_op)i);
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: no reduce op %d: expected %s",
				  dist__op_name(op->kind), (int)op->reduce_op,
				  text(&legal));
	}
	if (!dist__reduce_has(dtype, op->reduce_op))
		return refuse_pair(group, op);
	if (!dist__world_reduces(group->world, op->reduce_op, dtype))
		return refuse_world_op(group, op);
	return DIST_OK;
}

/* Of the tensor; a bundle has looked at its own. */
static bool is_phantom(const struct dist__op *op)
{
	return dist__op_sides(op)->bundle.kind
		       ? op->phantom
		       : op->tensor.numel > 0 && !op->tensor.data;
}

static enum dist_error check_tensor(struct dist_group *group,
				    const struct dist__op *op)
{
	const char *name = dist__op_name(op->kind);
	size_t element = dist_dtype_size(op->tensor.dtype);
	enum dist_error error;

	if (element == 0) {
		struct choice all = {.num = 0};

		for (; all.num < DIST_NUM_DTYPES; all.num++)
			all.names[all.num] =
				dist_dtype_name((enum dist_dtype)all.num);
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: no dtype %d: expected %s",
				  dist__op_name(op->kind),
				  (int)op->tensor.dtype, text(&all));
	}
	if (op->tensor.numel > (size_t)PTRDIFF_MAX / element)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: numel %zu is more than memory holds (a "
				  "negative number?)",
				  name, op->tensor.numel);
	error = check_reduce_op(group, op);
	if (error)
		return error;
	if (is_phantom(op) &&
	    !dist__world_has(group->world, DIST__NEEDS_PHANTOMS))
		return dist__fail(group, DIST_ERR_UNSUPPORTED,
				  "%s: a tensor without data (phantom) needs a "
				  "simulated world, this one is %s",
				  name, group->world->name);
	return DIST_OK;
}

static enum dist_error check_peer(struct dist_group *group,
				  const struct dist__op *op)
{
	const struct demand *demand = &demands[op->kind];
	const char *name = dist__op_called(op);
	int size = group->members.world_size;

	if (demand->any && op->peer == DIST_ANY_SOURCE)
		return size > 1 ? DIST_OK
				: dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
					     "%s: from any source: there is no "
					     "other rank in a group of 1",
					     name);
	if (demand->peer && (op->peer < 0 || op->peer >= size))
		return dist__fail(
			group, DIST_ERR_INVALID_ARGUMENT,
			"%s: %s is %d: expected 0 to %d, a rank in group %s%s",
			name, demand->peer_name, op->peer, size - 1,
			group->title,
			demand->any ? ", or DIST_ANY_SOURCE" : "");
	if (demand->other && op->peer == group->members.rank)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s is %d, the caller itself", name,
				  demand->peer_name, op->peer);
	return DIST_OK;
}

enum dist_error dist__check(struct dist_group *group, struct dist__op *op)
{
	enum dist__bundle_kind bundle = dist__op_sides(op)->bundle.kind;
	const char *name = dist__op_called(op);
	enum dist_error error;

	if (group->poison)
		return dist__fail(group, DIST_ERR_ABORTED,
				  "%s: the group failed earlier: %s", name,
				  dist_error_string(group->poison));
	error = check_peer(group, op);
	if (error)
		return error;
	if (dist__op_is_p2p(op->kind) && !op->purpose &&
	    (op->tag < 0 || op->tag > DIST_TAG_MAX))
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: tag is %d: expected 0 to %d", name,
				  op->tag, DIST_TAG_MAX);
	if (bundle == DIST__DEVICES &&
	    !dist__world_has(group->world, DIST__NEEDS_DEVICES))
		return dist__fail(
			group, DIST_ERR_UNSUPPORTED,
			"%s: several devices: a rank has one in back end %s",
			name, group->world->name);
	if (bundle) {
		error = dist__bundle_check(group, op);
		return error ? error : check_tensor(group, op);
	}
	error = check_tensor(group, op);
	return error ? error : dist__parts_check(group, op);
}

/* Notes that op, which was recorded, was not started. */
static enum dist_error not_started(struct dist_group *group,
				   const struct dist__op *op,
				   enum dist_error error)
{
	check_end(group->place.slot, op->call, error, op->issued_ns);
	if (error == DIST_ERR_HAZARD)
		return error; /* has its words */
	return dist__fail(group, error, "%s: %s", dist__op_called(op),
			  dist_error_string(error));
}

/* Runs op, which lives here, to its end. A failed call stays in the records
 * as the one that the rank waits in: that is where it got stuck. */
static enum dist_error run_here(struct dist_group *group, struct dist__op *op)
{
	struct check_slot *slot = group->place.slot;
	enum dist_error error = DIST_OK;

	if (!dist__buffer_check_idles(group))
		error = dist__buffer_check_begin(group, op, true);
	if (error)
		return not_started(group, op, error);
	check_wait(slot, op->call, NULL);
	op->lone = !group->root->threads;
	dist__rank_unlock(group);
	error = group->backend->ops->run(group->backend, op);
	dist__rank_lock(group);
	dist__report_end(group, op);
	if (error) {
		dist__buffer_check_free(op->watch);
		return dist__fail(group, error, "%s: %s", dist__op_called(op),
				  dist_error_string(error));
	}
	check_resume(slot);
	if (slot->held > 0)
		check_seen(slot, op->call);
	if (dist__buffer_check_idles(group))
		return DIST_OK;
	error = dist__buffer_check_sweep(group, op);
	if (!error)
		error = dist__buffer_check_end(op->watch, &op->site);
	dist__buffer_check_free(op->watch);
	return error;
}

/* Starts a copy of op, which *work gets as a handle. */
static enum dist_error start(struct dist_group *group,
			     const struct dist__op *op, struct dist_work **work)
{
	struct dist_work *handle = dist__work_new(group, op);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (handle)
		error = dist__buffer_check_begin(group, &handle->op, false);
	if (!error)
		error = group->backend->ops->submit(group->backend,
						    &handle->op);
	if (error) {
		dist__work_drop(handle);
		return not_started(group, op, error);
	}
	check_hold(group->place.slot, op->call);
	*work = handle;
	return DIST_OK;
}

/* Writes op into the records; what is known about it, if anything, or else is
 * found out now. */
static uint32_t report(struct dist_group *group, struct dist__op *op,
		       struct dist__call_cache *place, bool known)
{
	const struct check_call *call;
	uint32_t number;

	if (known)
		return dist__report_again(group, op, &place->call);
	number = dist__report_begin(group, op, &group->label);
	call = check_call_find(group->place.slot, number);
	if (place && call)
		dist__call_cache_set(place, op, call);
	return number;
}

/* The lengths of parts, by rank; equal ones that follow each other count as
 * one, so that parts in one tensor and in a list agree. */
static uint64_t mix_parts(uint64_t hash, const struct dist__parts *parts)
{
	size_t numel = 0;

	if (!parts->list)
		return dist__mix(dist__mix(hash, 0),
				 dist__part(parts, 0).numel);
	for (int rank = 0; rank < parts->count; rank++) {
		if (rank > 0 && parts->list[rank].numel == numel)
			continue;
		numel = parts->list[rank].numel;
		hash = dist__mix(dist__mix(hash, (uint64_t)rank), numel);
	}
	return hash;
}

/* A hash of what all ranks of an operation must agree about. What two ranks
 * exchange in an all-to-all only they can compare, by the size of the message.
 */
static uint64_t fingerprint_of(const struct dist__op *op, int world_size,
			       const struct dist__label *label)
{
	const struct dist__bundle *bundle = &dist__op_sides(op)->bundle;
	uint64_t hash = DIST__HASH_BEGIN;
	bool p2p = dist__op_is_p2p(op->kind);

	hash = dist__mix(hash, p2p ? DIST__SEND : op->kind);
	if (op->kind == DIST__ALL_GATHER)
		hash = mix_parts(hash, &op->sides->out);
	else if (op->kind == DIST__REDUCE_SCATTER)
		hash = mix_parts(hash, &op->sides->in);
	else if (op->kind != DIST__ALL_TO_ALL)
		hash = dist__mix(hash, dist__op_numel(op, world_size));
	hash = dist__mix(hash, op->tensor.dtype);
	hash = dist__mix(hash, op->reduce_op);
	if (op->purpose)
		hash = dist__mix(hash, op->purpose->terms);
	if (bundle->kind)
		hash = dist__mix(hash, dist__bundle_terms(bundle));
	if (label->terms && !p2p)
		hash = dist__mix(hash, label->terms);
	return dist__mix(hash, p2p ? 0 : (uint64_t)op->peer);
}

/* Numbers op, which is in order, and writes it into the records. */
static void record(struct dist_group *group, struct dist__op *op,
		   struct dist__call_cache *place, bool known)
{
	op->source = -1;
	op->seq = dist__op_is_p2p(op->kind) ? 0 : group->next_seq++;
	op->fingerprint = known ? place->fingerprint
				: fingerprint_of(op, group->members.world_size,
						 &group->label);
	op->issued_ns = group->backend->ops->now_ns(group->backend);
	if (op->deadline_ns == DIST_TIMEOUT_OF_GROUP)
		op->deadline_ns = group->place.timeout_ns;
	op->deadline_ns = dist__deadline_ns(op->issued_ns, op->deadline_ns);
	op->call = report(group, op, place, known);
}

/* A refusal says where the call stands: its site is taken when it is in order.
 */
static enum dist_error submit(struct dist_group *group, struct dist__op *op,
			      struct dist_work **work)
{
	struct dist__call_cache *place;
	enum dist_error error = DIST_OK;
	bool known;

	/* One by one, as dist_at() has just written them: read as a whole they
	 * would have to be in the cache first. */
	op->site.file = group->site.file;
	op->site.line = group->site.line;
	op->from = group->from;
	op->untimed = group->untimed;
	group->untimed = false;
	place = dist__call_cache_place(group, op);
	known = place && dist__call_cache_is(place, op);
	if (known) {
		op->phantom = place->phantom;
		op->algorithm = place->algorithm;
	}
	if (!known)
		error = dist__factor_find(group, op);
	if (!known && !error)
		error = dist__check(group, op);
	if (!error) {
		(void)dist__site_take(group);
		record(group, op, place, known);
	}
	group->label.text[0] = '\0';
	group->label.terms = 0;
	if (error)
		return error;
	if (work)
		return start(group, op, work);
	error = run_here(group, op);
	if (place)
		place->algorithm = op->algorithm;
	return error;
}

enum dist_error dist__submit(struct dist_group *group, struct dist__op *op,
			     struct dist_work **work)
{
	enum dist_error error;

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (dist__is_inside(group))
		return dist__refuse_inside(group, dist__op_called(op));
	dist__rank_lock(group);
	dist__call_begin(group);
	error = submit(group, op, work);
	dist__call_end(group);
	dist__rank_unlock(group);
	return error;
}
