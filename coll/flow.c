#include "coll/flow.h"

/* Of an all-to-all each rank knows its own lengths only. */
static bool has_timetable(const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);

	return op->kind != DIST__ALL_TO_ALL ||
	       (!sides->in.list && !sides->in.splits && !sides->out.list &&
		!sides->out.splits);
}

/* Whether all parts are as long. */
static bool is_even(const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);
	const struct dist__parts *parts =
		sides->in.count ? &sides->in : &sides->out;

	if (parts->count > 0 && !parts->list && !parts->splits)
		return parts->whole.numel % (size_t)parts->count == 0;
	for (int i = 1; i < parts->count; i++)
		if (dist__part(parts, i).numel != dist__part(parts, 0).numel)
			return false;
	return true;
}

/* Whether the timetable is one for so many ranks, and such parts. */
static bool suits(const struct dist__flow_ops *ops, int p, bool is_even)
{
	return ops && (!ops->halves || (is_even && (p & (p - 1)) == 0));
}

static size_t numel_of(const struct dist__coll *coll)
{
	const struct dist__sides *sides = dist__op_sides(coll->op);
	const struct dist__parts *parts =
		sides->in.count ? &sides->in : &sides->out;

	return parts->count
		       ? (size_t)coll->world_size * dist__parts_longest(parts)
		       : coll->op->tensor.numel;
}

/* Whether coll is one that could be a flow, by some algorithm. */
static bool is_candidate(const struct dist__coll *coll)
{
	return coll->op->phantom && coll->world_size > 1 &&
	       coll->transport->ops->simulation &&
	       coll->transport->ops->simulation->has_flow;
}

bool dist__flow_of(const struct dist__coll *coll,
		   const struct dist__algorithm *algorithm,
		   struct dist__flow_seat *seat)
{
	struct dist__transport *t = coll->transport;
	const struct dist__op *op = coll->op;
	bool even;

	if (!is_candidate(coll))
		return false;
	even = is_even(op);
	*seat = (struct dist__flow_seat){
		.flow = {.ops = has_timetable(op) &&
						suits(algorithm->flow,
						      coll->world_size, even)
					? algorithm->flow
					: NULL,
			 .kind = op->kind,
			 .world_size = coll->world_size,
			 .root = op->peer,
			 .numel = numel_of(coll),
			 .element_bytes = dist_dtype_size(op->tensor.dtype),
			 .segment_bytes = coll->segment_bytes,
			 .is_exact = even},
		.members = coll->members,
		.seq = op->seq,
		.fingerprint = op->fingerprint,
	};
	return seat->flow.ops &&
	       t->ops->simulation->has_flow(t, &seat->flow, seat->members);
}

bool dist__flow_run(const struct dist__coll *coll,
		    const struct dist__algorithm *algorithm,
		    enum dist_error *error)
{
	struct dist__transport *t = coll->transport;
	struct dist__flow_seat seat;

	if (!dist__flow_of(coll, algorithm, &seat)) {
		if (is_candidate(coll) && !algorithm->in_teams)
			t->ops->simulation->by_messages(t, &seat.flow,
							coll->members);
		return false;
	}
	*error = t->ops->simulation->flow_join(t, &seat);
	if (!*error)
		*error = t->ops->simulation->flow_wait(t, &seat,
						       coll->op->deadline_ns);
	return true;
}
