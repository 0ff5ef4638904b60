/*
 * round.c - which collectives are rounds of a meeting, and how a rank takes
 * part in one.
 */
#include "sim/round.h"

#include "core/op.h"
#include "sim/analytic_collective.h"
#include "sim/progress.h"

/* ---- what is a round --------------------------------------------------- */

static bool has_memory(const struct dist__parts *parts)
{
	bool any = !parts->list && parts->whole.data;

	for (int i = 0; i < parts->count && parts->list && !any; i++)
		any = parts->list[i].data;
	return any;
}

/* A rank may have nothing to bring to an all-to-all of others, nor to take; if
 * it is one of data, it has memory for that. */
static bool carries_data(const struct dist__op *op, int world_size)
{
	if (op->phantom)
		return false;
	if (op->kind == DIST__ALL_TO_ALL)
		return has_memory(&op->sides->in) ||
		       has_memory(&op->sides->out);
	return dist__op_numel(op, world_size) > 0;
}

/* Whether op, which only serves to measure, can do without messages. */
static bool is_handed_over(const struct dist__op *op)
{
	return op->untimed &&
	       (op->kind == DIST__BARRIER ||
		(op->kind == DIST__BROADCAST && op->phantom) ||
		((op->kind == DIST__ALL_REDUCE || op->kind == DIST__REDUCE) &&
		 op->reduce_op != DIST_PREMUL_SUM)) &&
	       !dist__op_sides(op)->bundle.kind;
}

/* Calls that tell ranks apart need messages, and so do results, but where they
 * follow from what a few ranks that stand for all bring. */
bool dist__sim_is_round(struct dist__transport *t,
			const struct dist__members *members,
			const struct dist__op *op)
{
	const struct dist__sim_world *world =
		((struct dist__sim_rank *)t)->world;
	bool follows = world->present < world->world_size &&
		       (!dist__op_reduces(op->kind) ||
			op->reduce_op != DIST_PREMUL_SUM);

	if (is_handed_over(op))
		return true;
	return world->has_rounds && op->kind != DIST__MONITORED_BARRIER &&
	       dist__op_sides(op)->bundle.kind != DIST__DEVICES &&
	       (follows || !carries_data(op, members->world_size) ||
		dist__sim_can_combine(op));
}

enum dist_error dist__sim_rounds_open(struct dist__sim_rank *rank,
				      const struct dist__members *members)
{
	struct dist__sim_analytic *meeting;

	if (!rank->world->has_rounds)
		return DIST_OK;
	meeting = dist__sim_analytic_of(rank, members);
	if (meeting && !dist__sim_analytic_measure(meeting))
		return DIST_OK;
	return rank->world->ended ? rank->world->end_error : DIST_ERR_NO_MEMORY;
}

/* ---- a rank in it ------------------------------------------------------ */

enum dist_error dist__sim_round_come(struct dist__transport *t,
				     const struct dist__members *members,
				     struct dist__op *op)
{
	struct dist__sim_analytic *meeting =
		dist__sim_analytic_of((struct dist__sim_rank *)t, members);

	op->private =
		meeting ? dist__sim_come(meeting, op, members->rank) : NULL;
	return op->private ? DIST_OK : DIST_ERR_NO_MEMORY;
}

bool dist__sim_round_over(struct dist__transport *t, const struct dist__op *op,
			  int64_t deadline_ns)
{
	struct dist__sim_rank *rank = (struct dist__sim_rank *)t;
	const struct dist__sim_round *round = op->private;

	/* Where the end is known, looks need not become rare. */
	if (round->complete)
		rank->actor.look_s = 0;
	return dist__sim_has_ended(rank->world, round) ||
	       dist__sim_is_late(rank->world, deadline_ns);
}

enum dist_error dist__sim_round_wait(struct dist__transport *t,
				     const struct dist__op *op,
				     int64_t deadline_ns)
{
	return dist__sim_await(op->private, (struct dist__sim_rank *)t,
			       deadline_ns);
}

static int64_t to_ns(double seconds)
{
	return (int64_t)(seconds * 1e9 + 0.5);
}

enum dist_error dist__sim_round_leave(struct dist__transport *t,
				      const struct dist__members *members,
				      struct dist__op *op,
				      enum dist_error error)
{
	struct dist__sim_round *round = op->private;

	op->private = NULL;
	op->ended_ns = t->ops->now_ns(t);
	if (!error)
		error = dist__sim_round_store(round, members->rank, op);
	if (!error) {
		int64_t start_ns = to_ns(round->start_s);

		op->ended_ns = to_ns(round->end_s);
		op->algorithm = round->algorithm;
		op->link = round->carriage.narrow;
		if (start_ns > op->started_ns)
			op->started_ns = start_ns;
	}
	dist__sim_round_drop(round);
	return error;
}
