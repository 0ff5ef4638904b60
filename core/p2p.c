/*
 * p2p.c - the entry points of point-to-point messages, one by one and in
 * batches.
 */
#include "core/state.h"

#include <stdio.h>
#include <stdlib.h>

#undef dist_send
#undef dist_recv
#undef dist_recv_any
#undef dist_isend
#undef dist_irecv
#undef dist_batch_isend_irecv
#undef dist_work_wait

static struct dist__op request_of(enum dist__op_kind kind,
				  struct dist_tensor tensor, int peer, int tag)
{
	return (struct dist__op){
		.kind = kind, .tensor = tensor, .peer = peer, .tag = tag};
}

static enum dist_error p2p(struct dist_group *group, enum dist__op_kind kind,
			   struct dist_tensor tensor, int peer, int tag,
			   struct dist_work **work)
{
	struct dist__op request = request_of(kind, tensor, peer, tag);

	return dist__submit(group, &request, work);
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

enum dist_error dist_recv_any(struct dist_group *group,
			      struct dist_tensor tensor, int tag, int *src)
{
	struct dist_work *work;
	enum dist_error error;

	if (!src)
		return DIST_ERR_INVALID_ARGUMENT;
	error = p2p(group, DIST__RECV, tensor, DIST_ANY_SOURCE, tag, &work);
	if (error)
		return error;
	error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	if (!error)
		*src = dist_work_source(work);
	dist_work_free(work);
	return error;
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

/* ---- batches ---------------------------------------------------------- */

/* What went wrong was with op number i: says so in front. */
static enum dist_error blame(struct dist_group *group, size_t i,
			     enum dist_error error)
{
	char text[400];

	snprintf(text, sizeof text, "%s", dist_error_message(group));
	return dist__fail(group, error, "batch_isend_irecv: op %zu: %s", i,
			  text);
}

static enum dist_error request_of_batch(struct dist_group *group,
					const struct dist_p2p_op *op,
					struct dist__op *request)
{
	if (op->kind != DIST_ISEND && op->kind != DIST_IRECV)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "no kind %d: expected DIST_ISEND or "
				  "DIST_IRECV",
				  (int)op->kind);
	*request = request_of(op->kind == DIST_ISEND ? DIST__SEND : DIST__RECV,
			      op->tensor, op->peer, op->tag);
	return DIST_OK;
}

static enum dist_error check_batch(struct dist_group *group,
				   const struct dist_p2p_op *ops, size_t num)
{
	struct dist__op request;
	enum dist_error error = DIST_OK;
	size_t i;

	for (i = 0; i < num && !error; i++) {
		error = request_of_batch(group, &ops[i], &request);
		if (!error)
			error = dist__check(group, &request);
	}
	return error ? blame(group, i - 1, error) : DIST_OK;
}

/* Ends what had been posted, so that the caller's memory is its own again. The
 * peers may have matched some of it: the group cannot go on. */
static void take_back(struct dist_group *group, struct dist_work **works,
		      size_t num)
{
	struct dist_message *text = group->message;

	group->message = NULL; /* what follows is no news */
	dist_abort(group);
	for (size_t i = 0; i < num; i++) {
		dist__rank_lock(group);
		dist__work_end(works[i]);
		dist__rank_unlock(group);
		dist_work_free(works[i]);
		works[i] = NULL;
	}
	free(group->message);
	group->message = text;
}

enum dist_error dist_batch_isend_irecv(struct dist_group *group,
				       const struct dist_p2p_op *ops,
				       size_t num_ops, struct dist_work **works)
{
	struct dist__op request;
	struct dist__site site, from;
	enum dist_error error;
	size_t i;

	if (!group || (num_ops > 0 && (!ops || !works)))
		return DIST_ERR_INVALID_ARGUMENT;
	site = group->site;
	from = group->from;
	error = check_batch(group, ops, num_ops);
	for (i = 0; i < num_ops && !error; i++) {
		group->site = site;
		group->from = from;
		error = request_of_batch(group, &ops[i], &request);
		if (!error)
			error = dist__submit(group, &request, &works[i]);
		if (error) {
			(void)blame(group, i, error);
			take_back(group, works, i);
		}
	}
	return error;
}
