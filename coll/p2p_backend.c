/*
 * p2p_backend.c - a whole-collective back end over any transport.
 *
 * A blocking collective runs on the caller's thread. One with a work handle
 * runs on the group's lane; so does a blocking one while the lane is busy,
 * because a group's operations run in the order of their calls. Point-to-point
 * operations are requests of the transport and need no lane; nor do rounds of a
 * simulation, which end by themselves.
 */
#include "coll/p2p_backend.h"

#include <stddef.h>
#include <stdlib.h>

#include "coll/flow.h"
#include "coll/profile.h"
#include "coll/stage.h"
#include "coll/team.h"
#include "core/reduce.h"

struct p2p_backend {
	struct dist__backend base;
	struct dist__transport *transport;
	const struct dist__members *members;
	const struct dist__profile *profile;
	struct dist__layout layout;
	struct dist__lane *lane; /* NULL until the first use */
	atomic_uint lane_ops;    /* collectives on the lane, not done */
	atomic_bool failed;      /* an op failed: nothing runs any more */
	struct dist__op *last;   /* in the last round, not left; or NULL */

	/* The flow that is under way on the lane. */
	struct dist__flow_seat seat;
	struct dist__op *flowing;
};

static struct p2p_backend *p2p(struct dist__backend *b)
{
	return (struct p2p_backend *)b;
}

static int64_t now_ns(struct dist__backend *b)
{
	struct dist__transport *t = p2p(b)->transport;

	return t->ops->now_ns(t);
}

static void finish_at(struct p2p_backend *b, struct dist__op *op,
		      enum dist_error error, int64_t ended_ns)
{
	if (error)
		atomic_store(&b->failed, true);
	dist__op_finish(op, error, ended_ns);
}

static void finish(struct p2p_backend *b, struct dist__op *op,
		   enum dist_error error)
{
	finish_at(b, op, error, now_ns(&b->base));
}

/* ---- collectives ------------------------------------------------------ */

/* The bytes of the sum that this rank is to make an average of; 0: none. */
static size_t bytes_to_divide(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;
	const struct dist_tensor *result = &op->tensor;
	bool here = op->kind != DIST__REDUCE || op->peer == coll->rank;

	if (!dist__op_reduces(op->kind) || op->reduce_op != DIST_AVG || !here)
		return 0;
	return result->numel * dist_dtype_size(result->dtype);
}

/* Makes the average of a sum, where the result is. A pass over it costs what a
 * reduction of that length does. */
static void divide(const struct dist__coll *coll)
{
	struct dist__transport *t = coll->transport;
	const struct dist_tensor *result = &coll->op->tensor;
	size_t bytes = bytes_to_divide(coll);

	if (bytes == 0)
		return;
	if (result->data)
		dist__divide(result->dtype, result->data, result->numel,
			     dist__contributors(coll));
	if (t->ops->simulation)
		t->ops->simulation->charge_reduce(t, bytes);
}

static enum dist_error run_flat(const struct dist__coll *coll)
{
	const struct dist__algorithm *algorithm = coll->op->algorithm;
	enum dist_error error;

	if (!coll->transport->ops->simulation ||
	    !dist__flow_run(coll, algorithm, &error))
		error = algorithm->run(coll);
	if (!error)
		divide(coll);
	return error;
}

static enum dist_error run_staged(const struct dist__coll *coll)
{
	struct dist__coll staged = *coll;
	struct dist__stage stage;
	enum dist_error error = dist__stage_in(&stage, coll);

	staged.op = &stage.op;
	if (!error)
		error = run_flat(&staged);
	if (!error)
		dist__stage_out(&stage);
	dist__stage_release(&stage);
	return error;
}

/* Gives op its algorithm, unless that is known of a call like it. */
static void choose(const struct p2p_backend *b, struct dist__op *op)
{
	size_t bytes;

	if (op->algorithm)
		return;
	bytes = dist__op_numel(op, b->layout.world_size) *
		dist_dtype_size(op->tensor.dtype);
	op->algorithm = dist__select(b->profile, op->kind, &b->layout, bytes);
}

static struct dist__coll coll_of(const struct p2p_backend *b,
				 struct dist__op *op)
{
	choose(b, op);
	return (struct dist__coll){
		.transport = b->transport,
		.members = b->members,
		.op = op,
		.rank = b->members->rank,
		.world_size = b->layout.world_size,
		.segment_bytes = (size_t)b->profile->segment_bytes,
		.by_ranks =
			b->transport->ops->simulation &&
			op->kind == DIST__ALL_TO_ALL &&
			dist__select_by_ranks(b->profile, op->kind, &b->layout),
	};
}

static enum dist_error begin(struct p2p_backend *b, struct dist__op *op,
			     int64_t started_ns)
{
	if (atomic_load(&b->failed))
		return DIST_ERR_ABORTED;
	dist__op_begin(op);
	op->started_ns = started_ns;
	return DIST_OK;
}

/* ---- rounds ----------------------------------------------------------- */

static bool is_round(const struct p2p_backend *b, const struct dist__op *op)
{
	const struct dist__simulation_ops *sim = b->transport->ops->simulation;

	return sim && sim->is_round &&
	       sim->is_round(b->transport, b->members, op);
}

static enum dist_error come_to_round(struct p2p_backend *b, struct dist__op *op)
{
	struct dist__transport *t = b->transport;
	enum dist_error error =
		t->ops->simulation->round_come(t, b->members, op);

	if (error)
		return error;
	dist__op_begin(op);
	op->started_ns = now_ns(&b->base);
	return DIST_OK;
}

static enum dist_error leave_round(struct p2p_backend *b, struct dist__op *op,
				   enum dist_error error)
{
	struct dist__transport *t = b->transport;

	if (b->last == op)
		b->last = NULL;
	error = t->ops->simulation->round_leave(t, b->members, op, error);
	return error && atomic_load(&b->failed) ? DIST_ERR_ABORTED : error;
}

/* Waits for the round of op and finishes it, unless deadline_ns passes before
 * that of op does. */
static enum dist_error end_round(struct p2p_backend *b, struct dist__op *op,
				 int64_t deadline_ns)
{
	struct dist__transport *t = b->transport;
	const struct dist__simulation_ops *sim = t->ops->simulation;
	bool is_ops = op->deadline_ns <= deadline_ns;
	enum dist_error error = DIST_ERR_ABORTED;

	if (!atomic_load(&b->failed) ||
	    sim->round_over(t, op, DIST_TIMEOUT_NEVER))
		error = sim->round_wait(t, op,
					is_ops ? op->deadline_ns : deadline_ns);
	if (error == DIST_ERR_TIMEOUT && !is_ops)
		return error;
	error = leave_round(b, op, error);
	finish_at(b, op, error, op->ended_ns);
	return error;
}

/* Runs a round to its end, in its turn on the lane. */
static enum dist_error run_round(struct p2p_backend *b, struct dist__op *op)
{
	struct dist__transport *t = b->transport;
	enum dist_error error = atomic_load(&b->failed) ? DIST_ERR_ABORTED
							: come_to_round(b, op);

	if (error)
		return error;
	error = t->ops->simulation->round_wait(t, op, op->deadline_ns);
	return leave_round(b, op, error);
}

/* ---- messages --------------------------------------------------------- */

/* Runs a collective to its end, on whatever thread this is, once the rounds
 * before it are over. */
static enum dist_error run_collective(struct p2p_backend *b,
				      struct dist__op *op, int64_t started_ns)
{
	struct dist__transport *t = b->transport;
	struct dist__coll coll = coll_of(b, op);
	enum dist_error error = DIST_OK;

	if (b->last)
		error = t->ops->simulation->round_wait(t, b->last,
						       op->deadline_ns);
	if (!error)
		error = begin(b, op, started_ns);
	if (error)
		return error;
	return dist__stage_needed(op) ? run_staged(&coll) : run_flat(&coll);
}

/* A vector so short that sending it at once takes next to no time. */
#define MOMENT_BYTES ((size_t)4 << 10)

/* Runs a collective in the caller. Asks the clock no more than needed, for that
 * takes as long as a short message: a rank that sends one, hears of nobody and
 * does not wait ends where it began. */
static enum dist_error run_in_caller(struct p2p_backend *b, struct dist__op *op)
{
	const struct dist__transport *t = b->transport;
	uint64_t waits = t->waits;
	enum dist_error error = run_collective(b, op, op->issued_ns);
	bool moment = t->single && t->waits == waits && !error && !op->on_end &&
		      op->tensor.numel * dist_dtype_size(op->tensor.dtype) <=
			      MOMENT_BYTES;

	finish_at(b, op, error, moment ? op->issued_ns : now_ns(&b->base));
	return op->error;
}

static void run_on_lane(void *arg)
{
	struct dist__op *op = arg;
	struct p2p_backend *b = op->private;
	enum dist_error error =
		is_round(b, op) ? run_round(b, op)
				: run_collective(b, op, now_ns(&b->base));

	atomic_fetch_sub(&b->lane_ops, 1);
	finish(b, op, error);
	b->transport->ops->lanes->notify(b->lane);
}

/* The flow on the lane is over, or was none; finishes its op. */
static void end_flow(struct dist__flow_seat *seat, enum dist_error error)
{
	struct p2p_backend *b =
		(struct p2p_backend *)((char *)seat -
				       offsetof(struct p2p_backend, seat));

	atomic_fetch_sub(&b->lane_ops, 1);
	finish(b, b->flowing, error);
	b->transport->ops->simulation->lane_over(b->lane);
}

/* Whether op is to be a flow on the lane, described in seat. */
static bool is_flow(const struct p2p_backend *b, struct dist__op *op,
		    struct dist__flow_seat *seat)
{
	struct dist__coll coll = coll_of(b, op);

	if (is_round(b, op) || dist__stage_needed(op) ||
	    !dist__flow_of(&coll, op->algorithm, seat))
		return false;
	seat->last_pass_bytes = bytes_to_divide(&coll);
	seat->over = end_flow;
	return true;
}

static void join_flow(void *arg)
{
	struct dist__op *op = arg;
	struct p2p_backend *b = op->private;
	struct dist__transport *t = b->transport;
	enum dist_error error = begin(b, op, now_ns(&b->base));

	b->flowing = op;
	(void)is_flow(b, op, &b->seat);
	if (!error)
		error = t->ops->simulation->flow_join(t, &b->seat);
	if (error)
		end_flow(&b->seat, error);
}

static enum dist_error submit_collective(struct p2p_backend *b,
					 struct dist__op *op)
{
	const struct dist__transport_ops *ops = b->transport->ops;
	struct dist__flow_seat seat;
	enum dist_error error = DIST_OK;

	if (!b->lane)
		error = ops->lanes->create(b->transport, &b->lane);
	if (error)
		return error;
	op->private = b;
	op->job = (struct dist__job){.run = run_on_lane, .arg = op};
	/* A flow needs nobody to wait for it. */
	if (!b->last && is_flow(b, op, &seat)) {
		op->job.run = join_flow;
		op->job.is_flow = true;
	}
	atomic_fetch_add(&b->lane_ops, 1);
	error = ops->lanes->submit(b->lane, &op->job);
	if (error)
		atomic_fetch_sub(&b->lane_ops, 1);
	return error;
}

/* ---- point to point --------------------------------------------------- */

static enum dist_error start_p2p(struct p2p_backend *b, struct dist__op *op)
{
	const struct dist__transport_ops *ops = b->transport->ops;
	struct dist__message m = {
		.peer = op->peer,
		.group = b->members->group_id,
		.tag = op->tag,
		.fingerprint = op->fingerprint,
		.data = op->tensor.data,
		.bytes = op->tensor.numel * dist_dtype_size(op->tensor.dtype),
		.members = b->members,
		.source = &op->source,
	};
	struct dist__request *request = NULL;
	enum dist_error error;

	if (!dist__op_is_any(op))
		m.peer = dist__global_rank(b->members, op->peer);
	op->started_ns = now_ns(&b->base);
	if (op->kind == DIST__SEND)
		error = ops->isend(b->transport, &m, &request);
	else
		error = ops->irecv(b->transport, &m, &request);
	op->private = request;
	return error;
}

/* Waits for a started point-to-point op and finishes it either way. */
static enum dist_error end_p2p(struct p2p_backend *b, struct dist__op *op,
			       int64_t deadline_ns)
{
	enum dist_error error =
		b->transport->ops->wait(b->transport, op->private, deadline_ns);

	op->private = NULL;
	if (op->source >= 0)
		op->source = dist__group_rank(b->members, op->source);
	finish(b, op, error);
	return error;
}

/* ---- the table -------------------------------------------------------- */

/* Whether op needs no lane: its rank starts it, and waits for it. A round has
 * to begin after what is on the lane. */
static bool is_request(const struct p2p_backend *b, const struct dist__op *op)
{
	return dist__op_is_p2p(op->kind) ||
	       (atomic_load(&b->lane_ops) == 0 && is_round(b, op));
}

static enum dist_error start_request(struct p2p_backend *b, struct dist__op *op)
{
	enum dist_error error;

	op->job.run = NULL;
	if (dist__op_is_p2p(op->kind))
		return start_p2p(b, op);
	error = come_to_round(b, op);
	if (!error)
		b->last = op;
	return error;
}

/* Waits for what start_request() has started. */
static enum dist_error end_request(struct p2p_backend *b, struct dist__op *op,
				   int64_t deadline_ns)
{
	return dist__op_is_p2p(op->kind) ? end_p2p(b, op, deadline_ns)
					 : end_round(b, op, deadline_ns);
}

static enum dist_error submit(struct dist__backend *backend,
			      struct dist__op *op)
{
	struct p2p_backend *b = p2p(backend);

	if (atomic_load(&b->failed))
		return DIST_ERR_ABORTED;
	return is_request(b, op) ? start_request(b, op)
				 : submit_collective(b, op);
}

static enum dist_error run(struct dist__backend *backend, struct dist__op *op)
{
	struct p2p_backend *b = p2p(backend);
	enum dist_error error;

	if (atomic_load(&b->lane_ops) == 0 && !is_request(b, op))
		return run_in_caller(b, op);
	error = submit(backend, op);
	if (error) {
		finish(b, op, error);
		return error;
	}
	if (!op->job.run)
		return end_request(b, op, op->deadline_ns);
	/* op lives on the caller's stack: whatever happens, stay until the
	 * lane is done with it. Its own deadline bounds that. */
	while (!dist__op_is_done(op))
		(void)b->transport->ops->lanes->wait(b->lane, op,
						     DIST_TIMEOUT_NEVER);
	return op->error;
}

static enum dist_error wait(struct dist__backend *backend, struct dist__op *op,
			    int64_t deadline_ns)
{
	struct p2p_backend *b = p2p(backend);
	enum dist_error error;

	if (dist__op_is_done(op))
		return op->error;
	if (!op->job.run)
		return end_request(b, op, deadline_ns);
	error = b->transport->ops->lanes->wait(b->lane, op, deadline_ns);
	return dist__op_is_done(op) ? op->error : error;
}

/* Whether the round of op is over, or given up. */
static bool has_round_ended(const struct p2p_backend *b,
			    const struct dist__op *op)
{
	struct dist__transport *t = b->transport;

	return atomic_load(&b->failed) ||
	       t->ops->simulation->round_over(t, op, op->deadline_ns);
}

static bool test(struct dist__backend *backend, struct dist__op *op)
{
	struct p2p_backend *b = p2p(backend);
	bool is_p2p = dist__op_is_p2p(op->kind);

	if (dist__op_is_done(op))
		return true;
	if (!op->job.run && !is_p2p && has_round_ended(b, op))
		(void)end_round(b, op, DIST_TIMEOUT_NEVER);
	else if (b->transport->ops->test(b->transport,
					 is_p2p ? op->private : NULL) &&
		 is_p2p)
		(void)end_p2p(b, op, DIST_TIMEOUT_NEVER);
	return dist__op_is_done(op);
}

static enum dist_error compute(struct dist__backend *backend,
			       int64_t duration_ns, const char *label)
{
	struct dist__transport *t = p2p(backend)->transport;

	(void)label;
	return t->ops->compute(t, duration_ns);
}

static void abort_group(struct dist__backend *backend)
{
	struct p2p_backend *b = p2p(backend);

	atomic_store(&b->failed, true);
	b->transport->ops->abort(b->transport, b->members->group_id);
}

static const char *text(struct dist__backend *backend)
{
	struct dist__transport *t = p2p(backend)->transport;

	return t->ops->failure_text ? t->ops->failure_text(t) : "";
}

static void free_backend(struct dist__backend *backend)
{
	struct p2p_backend *b = p2p(backend);

	b->transport->ops->lanes->free(b->lane);
	free(b);
}

static const struct dist__backend_ops p2p_ops = {
	.run = run,
	.submit = submit,
	.wait = wait,
	.test = test,
	.now_ns = now_ns,
	.compute = compute,
	.abort = abort_group,
	.failure_text = text,
	.free = free_backend,
};

enum dist_error dist__p2p_backend_new(const struct dist__place *place,
				      const struct dist__members *members,
				      struct dist__backend **backend,
				      struct dist_message *message)
{
	struct p2p_backend *b = calloc(1, sizeof *b);
	const struct dist__nodes *nodes = NULL;
	int num_nodes = members->world_size;

	(void)message;
	if (!b || (members->nodes &&
		   dist__nodes_open(place->transport, members, 0, &nodes))) {
		free(b);
		return DIST_ERR_NO_MEMORY;
	}
	if (nodes)
		num_nodes = nodes->count;
	dist__nodes_close(nodes);
	b->layout = (struct dist__layout){
		.world_size = members->world_size,
		.num_nodes = num_nodes,
		.in_memory = num_nodes == 1 && place->transport->shares_memory};
	b->base.ops = &p2p_ops;
	b->transport = place->transport;
	b->members = members;
	b->profile = place->profile;
	*backend = &b->base;
	return DIST_OK;
}
