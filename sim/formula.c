/*
 * formula.c - a back end whose collectives are meetings.
 *
 * The collectives of a group run one after the other, as on a stream. One whose
 * end is known from all arrivals needs nobody to drive it: its rank waits for
 * that instant. Messages of the program, and collectives that carry data, are
 * simulated message by message by the back end below. While one of those is
 * under way beside the rank, those behind it queue on a lane.
 */
#include "sim/formula.h"

#include <stdlib.h>

#include "coll/p2p_backend.h"
#include "core/op.h"
#include "sim/analytic_collective.h"
#include "sim/lane.h"
#include "sim/progress.h"

/* Whether the result of op follows from what a few ranks that stand for all
 * bring. */
static bool knows_result(const struct dist__op *op)
{
	if (dist__op_sides(op)->bundle.kind == DIST__DEVICES)
		return false;
	return !dist__op_is_p2p(op->kind) &&
	       op->kind != DIST__MONITORED_BARRIER &&
	       (!dist__op_reduces(op->kind) ||
		op->reduce_op != DIST_PREMUL_SUM);
}

/* ---- the back end -------------------------------------------------------- */

struct formula_backend {
	struct dist__backend base;
	struct dist__backend *inner; /* message by message; owned */
	struct dist__sim_rank *rank;
	int size;       /* of the group */
	int self;       /* the rank's number there */
	bool stands_in; /* not all ranks run */
	struct dist__sim_analytic *meeting;
	struct dist__sim_round *last; /* the rank came to, held; or NULL */
	struct dist__lane *lane;      /* NULL until the first use */
	int queued;                   /* collectives on the lane, not done */
	bool failed;                  /* nothing runs any more */
};

static struct formula_backend *of(struct dist__backend *b)
{
	return (struct formula_backend *)b;
}

static struct dist__transport *transport_of(const struct formula_backend *b)
{
	return &b->rank->transport;
}

static int64_t to_ns(double seconds)
{
	return (int64_t)(seconds * 1e9 + 0.5);
}

static bool has_memory(const struct dist__parts *parts)
{
	bool any = !parts->list && parts->whole.data;

	for (int i = 0; i < parts->count && parts->list && !any; i++)
		any = parts->list[i].data;
	return any;
}

/* A rank may have nothing to bring to an all-to-all of others, nor to take; if
 * it is one of data, it has memory for that. */
static bool carries_data(const struct formula_backend *b,
			 const struct dist__op *op)
{
	if (op->phantom)
		return false;
	if (op->kind == DIST__ALL_TO_ALL)
		return has_memory(&op->sides->in) ||
		       has_memory(&op->sides->out);
	return dist__op_numel(op, b->size) > 0;
}

/* Results need messages, and so do calls that tell ranks apart. */
static bool needs_messages(const struct formula_backend *b,
			   const struct dist__op *op)
{
	if (b->stands_in && knows_result(op))
		return false;
	return op->kind == DIST__MONITORED_BARRIER ||
	       dist__op_sides(op)->bundle.kind == DIST__DEVICES ||
	       (carries_data(b, op) && !dist__sim_can_combine(op));
}

/* ---- one collective ---------------------------------------------------- */

/* The rank comes to it now; NULL: no memory. */
static struct dist__sim_round *come(struct formula_backend *b,
				    struct dist__op *op)
{
	struct dist__sim_round *round = dist__sim_come(b->meeting, op, b->self);

	if (!round)
		return NULL;
	dist__op_begin(op);
	op->started_ns = dist__sim_now_ns(b->rank->world);
	if (b->last)
		dist__sim_round_drop(b->meeting, b->last);
	dist__sim_round_hold(round);
	b->last = round;
	return round;
}

/* Finishes an op that the rank has come to. */
static enum dist_error finish(struct formula_backend *b, struct dist__op *op,
			      struct dist__sim_round *round,
			      enum dist_error error)
{
	int64_t end_ns = dist__sim_now_ns(b->rank->world);

	if (!error)
		error = dist__sim_round_store(b->meeting, round, b->self, op);
	if (error) {
		error = b->failed ? DIST_ERR_ABORTED : error;
		b->failed = true;
	} else {
		int64_t start_ns = to_ns(round->start_s);

		end_ns = to_ns(round->end_s);
		op->algorithm = round->algorithm;
		op->link = round->carriage.narrow;
		if (start_ns > op->started_ns)
			op->started_ns = start_ns;
	}
	dist__sim_round_drop(b->meeting, round);
	dist__op_finish(op, error, end_ns);
	return error;
}

static enum dist_error refuse(struct formula_backend *b, struct dist__op *op,
			      enum dist_error error)
{
	b->failed = true;
	dist__op_finish(op, error, dist__sim_now_ns(b->rank->world));
	return error;
}

/* Does op to its end, in the rank or on its lane. */
static enum dist_error run_here(struct formula_backend *b, struct dist__op *op)
{
	struct dist__sim_round *round;

	if (b->failed)
		return refuse(b, op, DIST_ERR_ABORTED);
	if (needs_messages(b, op)) {
		/* Message by message, once what the rank has come to before is
		 * over. */
		enum dist_error error = DIST_OK;

		if (b->last)
			error = dist__sim_round_wait(b->rank, b->last,
						     op->deadline_ns);
		if (error)
			return refuse(b, op, error);
		error = b->inner->ops->run(b->inner, op);
		if (error)
			b->failed = true;
		return error;
	}
	round = come(b, op);
	if (!round)
		return refuse(b, op, DIST_ERR_NO_MEMORY);
	return finish(b, op, round,
		      dist__sim_round_wait(b->rank, round, op->deadline_ns));
}

/* ---- beside the rank --------------------------------------------------- */

static void run_queued(void *arg)
{
	struct dist__op *op = arg;
	struct formula_backend *b = op->private;

	(void)run_here(b, op);
	b->queued--;
	dist__sim_lanes.notify(b->lane);
}

static enum dist_error queue(struct formula_backend *b, struct dist__op *op)
{
	enum dist_error error = DIST_OK;

	if (!b->lane)
		error = dist__sim_lanes.create(transport_of(b), &b->lane);
	if (error)
		return error;
	op->private = b;
	op->job = (struct dist__job){.run = run_queued, .arg = op};
	b->queued++;
	return dist__sim_lanes.submit(b->lane, &op->job);
}

/* op->private becomes the round that the rank has come to, unless op has a job:
 * then it is on the lane. */
static enum dist_error submit(struct dist__backend *backend,
			      struct dist__op *op)
{
	struct formula_backend *b = of(backend);

	if (dist__op_is_p2p(op->kind))
		return b->inner->ops->submit(b->inner, op);
	if (b->failed)
		return DIST_ERR_ABORTED;
	if (b->queued > 0 || needs_messages(b, op))
		return queue(b, op);
	op->job.run = NULL;
	op->private = come(b, op);
	return op->private ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static enum dist_error run(struct dist__backend *backend, struct dist__op *op)
{
	struct formula_backend *b = of(backend);
	enum dist_error error;

	if (dist__op_is_p2p(op->kind))
		return b->inner->ops->run(b->inner, op);
	if (b->queued == 0)
		return run_here(b, op);
	error = queue(b, op);
	if (error)
		return refuse(b, op, error);
	/* op lives on the caller's stack: its own deadline bounds that. */
	(void)dist__sim_lanes.wait(b->lane, op, DIST_TIMEOUT_NEVER);
	return op->error;
}

/* ---- waiting ----------------------------------------------------------- */

/* Waits for a round. The time of the wait may be up before that of op. */
static enum dist_error wait_round(struct formula_backend *b,
				  struct dist__op *op, int64_t deadline_ns)
{
	const struct dist__sim_world *world = b->rank->world;
	struct dist__sim_round *round = op->private;
	bool is_ops = op->deadline_ns <= deadline_ns;
	enum dist_error error = DIST_ERR_ABORTED;

	if (!b->failed || dist__sim_round_over(world, round))
		error = dist__sim_round_wait(
			b->rank, round, is_ops ? op->deadline_ns : deadline_ns);
	if (error == DIST_ERR_TIMEOUT && !is_ops)
		return error;
	return finish(b, op, round, error);
}

static enum dist_error wait(struct dist__backend *backend, struct dist__op *op,
			    int64_t deadline_ns)
{
	struct formula_backend *b = of(backend);
	enum dist_error error;

	if (dist__op_is_done(op))
		return op->error;
	if (dist__op_is_p2p(op->kind))
		return b->inner->ops->wait(b->inner, op, deadline_ns);
	if (!op->job.run)
		return wait_round(b, op, deadline_ns);
	error = dist__sim_lanes.wait(b->lane, op, deadline_ns);
	return dist__op_is_done(op) ? op->error : error;
}

static bool test(struct dist__backend *backend, struct dist__op *op)
{
	struct formula_backend *b = of(backend);
	struct dist__transport *t = transport_of(b);
	const struct dist__sim_round *round = op->private;
	bool over;

	if (dist__op_is_done(op))
		return true;
	if (dist__op_is_p2p(op->kind))
		return b->inner->ops->test(b->inner, op);
	if (op->job.run) {
		(void)t->ops->test(t, NULL);
		return dist__op_is_done(op);
	}
	over = b->failed || dist__sim_round_over(b->rank->world, round) ||
	       dist__sim_is_late(b->rank->world, op->deadline_ns);
	if (over)
		(void)wait_round(b, op, DIST_TIMEOUT_NEVER);
	else
		dist__sim_round_look(b->rank, round);
	return dist__op_is_done(op);
}

/* ---- the rest of the table --------------------------------------------- */

static int64_t now_ns(struct dist__backend *backend)
{
	struct dist__backend *inner = of(backend)->inner;

	return inner->ops->now_ns(inner);
}

static enum dist_error compute(struct dist__backend *backend,
			       int64_t duration_ns, const char *label)
{
	struct dist__backend *inner = of(backend)->inner;

	return inner->ops->compute(inner, duration_ns, label);
}

static void abort_group(struct dist__backend *backend)
{
	struct formula_backend *b = of(backend);

	b->failed = true;
	b->inner->ops->abort(b->inner);
}

static void free_backend(struct dist__backend *backend)
{
	struct formula_backend *b = of(backend);

	dist__sim_lanes.free(b->lane);
	if (b->last)
		dist__sim_round_drop(b->meeting, b->last);
	b->inner->ops->free(b->inner);
	free(b);
}

static const struct dist__backend_ops formula_ops = {
	.run = run,
	.submit = submit,
	.wait = wait,
	.test = test,
	.now_ns = now_ns,
	.compute = compute,
	.abort = abort_group,
	.free = free_backend,
};

enum dist_error dist__sim_formula_new(const struct dist__place *place,
				      const struct dist__members *members,
				      struct dist__backend **backend)
{
	struct formula_backend *b = calloc(1, sizeof *b);
	struct dist__backend *inner = NULL;
	enum dist_error error;

	if (!b ||
	    dist__p2p_backend_new(place, members, &inner, NULL) != DIST_OK) {
		free(b);
		if (inner)
			inner->ops->free(inner);
		return DIST_ERR_NO_MEMORY;
	}
	b->base.ops = &formula_ops;
	b->inner = inner;
	b->rank = (struct dist__sim_rank *)place->transport;
	b->size = members->world_size;
	b->self = members->rank;
	b->stands_in = b->rank->world->present < b->rank->world->world_size;
	b->meeting = dist__sim_analytic_of(b->rank, members);
	*backend = &b->base;
	if (b->meeting && !dist__sim_analytic_measure(b->meeting))
		return DIST_OK;
	error = b->rank->world->ended ? b->rank->world->end_error
				      : DIST_ERR_NO_MEMORY;
	free_backend(&b->base);
	return error;
}
