#include "coll/flow.h"

/* Whether only the two ranks of a message know how long it is. One that has
 * nothing to send or get cannot say whether others have data: what has data
 * goes the same way. */
static bool is_own(const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);

	return op->kind == DIST__ALL_TO_ALL &&
	       (!op->phantom || sides->in.list || sides->in.splits ||
		sides->out.list || sides->out.splits);
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

/* Whether the world has flows, and coll could be one, by some algorithm. */
static bool is_candidate(const struct dist__coll *coll)
{
	return (coll->op->phantom || is_own(coll->op)) &&
	       coll->world_size > 1 && coll->transport->ops->simulation &&
	       coll->transport->ops->simulation->has_flow;
}

/* The timetable of coll by algorithm; NULL: there is none. Ranks of an
 * all-to-all that know their own parts only must choose the same one all the
 * same, and those whose parts are as long do not know of the others. */
static const struct dist__flow_ops *
timetable_of(const struct dist__coll *coll,
	     const struct dist__algorithm *algorithm, bool even)
{
	if (coll->op->kind == DIST__ALL_TO_ALL && !coll->by_ranks)
		return NULL;
	return suits(algorithm->flow, coll->world_size, even) ? algorithm->flow
							      : NULL;
}

bool dist__flow_of(const struct dist__coll *coll,
		   const struct dist__algorithm *algorithm,
		   struct dist__flow_seat *seat)
{
	struct dist__transport *t = coll->transport;
	const struct dist__op *op = coll->op;
	bool own = is_own(op), even = own || is_even(op);

	if (!is_candidate(coll))
		return false;
	*seat = (struct dist__flow_seat){
		.flow = {.ops = timetable_of(coll, algorithm, even),
			 .kind = op->kind,
			 .world_size = coll->world_size,
			 .root = op->peer,
			 .numel = own ? 0 : numel_of(coll),
			 .element_bytes = dist_dtype_size(op->tensor.dtype),
			 .segment_bytes = coll->segment_bytes,
			 .is_exact = even,
			 .is_own = own},
		.members = coll->members,
		.seq = op->seq,
		.fingerprint = op->fingerprint,
		.sides = op->kind == DIST__ALL_TO_ALL ? op->sides : NULL,
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
		if (is_candidate(coll) && coll->op->phantom &&
		    !algorithm->in_teams)
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
