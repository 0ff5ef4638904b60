/*
 * oracle.c - what must come of a program, by the rules of dist.h alone.
 *
 * Every rank goes as far as it can, one after the other, until nobody moves.
 * Shares nothing with the library, on purpose.
 */
#include "tests/property/program.h"

/* An operation that a rank has called. */
struct issued {
	const struct call *call;
	int index; /* collectives: in the group; messages: on their way */
	bool done;
};

struct walker {
	int next; /* call */
	bool finished, gave_up;
	struct issued issued[MOST_CALLS];
	int num_issued;
	unsigned groups; /* that it is in, by bits */
};

struct walk {
	const struct program *program;
	bool buffered, loose;
	struct walker ranks[MOST_RANKS];
};

static bool is_collective(const struct call *call)
{
	return program_is_op(call->act) && !program_is_message(call->act);
}

static bool same_collective(const struct call *a, const struct call *b)
{
	if (a->act != b->act || a->group != b->group)
		return false;
	if (a->act == ACT_BARRIER)
		return true;
	if (a->act == ACT_NEW_GROUP)
		return a->members == b->members;
	return a->numel == b->numel && a->dtype == b->dtype &&
	       (!program_reduces(a->act) || a->reduce_op == b->reduce_op) &&
	       (!program_has_root(a->act) || a->peer == b->peer);
}

static const struct issued *collective_at(const struct walk *walk, int rank,
					  int group, int index)
{
	const struct walker *w = &walk->ranks[rank];

	for (int i = 0; i < w->num_issued; i++)
		if (is_collective(w->issued[i].call) &&
		    w->issued[i].call->group == group &&
		    w->issued[i].index == index)
			return &w->issued[i];
	return NULL;
}

/* Whether a and b of those ranks are on the same way, one at each end. */
static bool same_way(const struct call *a, int rank_a, const struct call *b,
		     int rank_b)
{
	return program_is_message(a->act) && program_is_message(b->act) &&
	       a->act != b->act && a->group == b->group && a->tag == b->tag &&
	       a->peer == rank_b && b->peer == rank_a;
}

static const struct issued *other_end(const struct walk *walk, int rank,
				      const struct issued *op)
{
	const struct walker *w = &walk->ranks[op->call->peer];

	for (int i = 0; i < w->num_issued; i++)
		if (same_way(op->call, rank, w->issued[i].call,
			     op->call->peer) &&
		    w->issued[i].index == op->index)
			return &w->issued[i];
	return NULL;
}

/* Whether a rank that is not there yet keeps rank in call. */
static bool needs(const struct walk *walk, const struct call *call, int rank,
		  int absent)
{
	if (!walk->loose)
		return true;
	switch (call->act) {
	case ACT_BROADCAST:
	case ACT_SCATTER:
		return rank != call->peer && absent == call->peer;
	case ACT_REDUCE:
	case ACT_GATHER:
		return rank == call->peer;
	default:
		return true;
	}
}

static bool can_end_collective(const struct walk *walk, int rank,
			       const struct issued *op)
{
	const struct issued *other;
	int group = op->call->group;

	if (op->index > 0) {
		other = collective_at(walk, rank, group, op->index - 1);
		if (other && !other->done)
			return false;
	}
	for (int r = 0; r < walk->program->world_size; r++) {
		if (!(walk->program->members[group] >> r & 1U))
			continue;
		other = collective_at(walk, r, group, op->index);
		if (other ? !same_collective(op->call, other->call)
			  : needs(walk, op->call, rank, r))
			return false;
	}
	return true;
}

static bool same_content(const struct call *a, const struct call *b)
{
	return a->numel == b->numel && a->dtype == b->dtype;
}

static bool can_end_message(const struct walk *walk, int rank,
			    const struct issued *op)
{
	const struct issued *other = other_end(walk, rank, op);

	if (walk->buffered && op->call->act == ACT_SEND)
		return true;
	return other && same_content(op->call, other->call);
}

static bool end_what_can(struct walk *walk, int rank)
{
	struct walker *w = &walk->ranks[rank];
	bool moved = false;

	for (int i = 0; i < w->num_issued; i++) {
		struct issued *op = &w->issued[i];

		if (op->done || !(is_collective(op->call)
					  ? can_end_collective(walk, rank, op)
					  : can_end_message(walk, rank, op)))
			continue;
		op->done = moved = true;
		if (op->call->act == ACT_NEW_GROUP &&
		    op->call->members >> rank & 1U)
			w->groups |= 1U << op->call->made;
	}
	return moved;
}

static void issue(struct walk *walk, int rank, const struct call *call)
{
	struct walker *w = &walk->ranks[rank];
	struct issued *op = &w->issued[w->num_issued];

	*op = (struct issued){.call = call};
	for (int i = 0; i < w->num_issued; i++) {
		const struct call *old = w->issued[i].call;

		if (is_collective(call))
			op->index +=
				is_collective(old) && old->group == call->group;
		else
			op->index += old->act == call->act &&
				     old->group == call->group &&
				     old->tag == call->tag &&
				     old->peer == call->peer;
	}
	w->num_issued++;
}

/* Whether what the rank called in step, of any step for -1, has ended. */
static bool has_ended(const struct walker *w, int step)
{
	for (int i = 0; i < w->num_issued; i++)
		if (!w->issued[i].done &&
		    (step < 0 || w->issued[i].call->step == step))
			return false;
	return true;
}

/* The rank's next call, if it can get past it. */
static bool advance(struct walk *walk, int rank)
{
	const struct rank_program *list = &walk->program->ranks[rank];
	struct walker *w = &walk->ranks[rank];
	const struct call *call = &list->calls[w->next];
	bool entered;

	if (w->finished)
		return false;
	if (w->next == list->num_calls || w->gave_up || call->act == ACT_EXIT) {
		w->gave_up |= w->next < list->num_calls &&
			      call->act == ACT_EXIT && call->status;
		w->finished = has_ended(w, -1);
		return w->finished;
	}
	if (program_is_op(call->act)) {
		if (!(w->groups >> call->group & 1U)) {
			w->gave_up = true;
			return true;
		}
		entered = w->num_issued > 0 &&
			  w->issued[w->num_issued - 1].call == call;
		if (!entered)
			issue(walk, rank, call);
		(void)end_what_can(walk, rank);
		if (!call->async && !w->issued[w->num_issued - 1].done)
			return !entered;
	} else if (call->act == ACT_WAIT && !has_ended(w, call->step)) {
		return false;
	} else if (call->act == ACT_COMPUTE &&
		   call->duration_ns > PROGRAM_TIMEOUT_NS) {
		return false;
	}
	w->next++;
	return true;
}

static void walk_on(struct walk *walk)
{
	bool moved = true;

	for (int r = 0; r < walk->program->world_size; r++)
		walk->ranks[r].groups = 1;
	while (moved) {
		moved = false;
		for (int r = 0; r < walk->program->world_size; r++)
			moved |= end_what_can(walk, r);
		for (int r = 0; r < walk->program->world_size; r++)
			while (advance(walk, r))
				moved = true;
	}
}

/* ---- what came of it -------------------------------------------------- */

static bool find_mismatch_of(const struct walk *walk, int rank,
			     const struct issued *op, struct ending *found)
{
	const struct issued *other;

	if (program_is_message(op->call->act)) {
		other = other_end(walk, rank, op);
		if (!other || same_content(op->call, other->call))
			return false;
		found->line = op->call->line;
		found->other_line = other->call->line;
		return true;
	}
	for (int r = 0; r < rank; r++) {
		other = collective_at(walk, r, op->call->group, op->index);
		if (!other || same_collective(op->call, other->call))
			continue;
		found->line = op->call->line;
		found->other_line = other->call->line;
		return true;
	}
	return false;
}

static bool find_mismatch(const struct walk *walk, struct ending *found)
{
	for (int i = 0; i < MOST_CALLS; i++)
		for (int r = 0; r < walk->program->world_size; r++)
			if (i < walk->ranks[r].num_issued &&
			    find_mismatch_of(walk, r, &walk->ranks[r].issued[i],
					     found))
				return true;
	return false;
}

/* The call that keeps the rank: NULL: it has finished. */
static const struct call *keeper(const struct walk *walk, int rank)
{
	const struct walker *w = &walk->ranks[rank];
	const struct rank_program *list = &walk->program->ranks[rank];

	if (w->finished)
		return NULL;
	for (int i = 0; w->next == list->num_calls && i < w->num_issued; i++)
		if (!w->issued[i].done)
			return w->issued[i].call;
	return &list->calls[w->next < list->num_calls ? w->next : 0];
}

/* Whether somebody waits in a call for rank, directly. */
static bool is_awaited(const struct walk *walk, int rank)
{
	for (int r = 0; r < walk->program->world_size; r++)
		for (int i = 0; i < walk->ranks[r].num_issued; i++) {
			const struct issued *op = &walk->ranks[r].issued[i];

			if (r == rank || op->done)
				continue;
			if (program_is_message(op->call->act)
				    ? op->call->peer == rank
				    : !collective_at(walk, rank,
						     op->call->group,
						     op->index))
				return true;
		}
	return false;
}

static enum outcome conclude(const struct walk *walk, struct ending *found)
{
	bool stuck = false, late = false;
	int lost = -1;

	for (int r = 0; r < walk->program->world_size; r++) {
		const struct call *call = keeper(walk, r);

		found->stands[r] = call ? call->line : 0;
		if (call && call->act == ACT_COMPUTE)
			late = true;
		else if (call)
			stuck = true;
		if (walk->ranks[r].gave_up)
			lost = r;
	}
	if (find_mismatch(walk, found))
		return OUTCOME_MISMATCH;
	if (late)
		return stuck ? OUTCOME_TIMEOUT : OUTCOME_FINE;
	if (lost >= 0 && stuck)
		return is_awaited(walk, lost) ? OUTCOME_LOST : OUTCOME_DEADLOCK;
	if (stuck)
		return OUTCOME_DEADLOCK;
	return lost >= 0 ? OUTCOME_FAILED : OUTCOME_FINE;
}

static struct ending ending_of(const struct program *program, bool buffered,
			       bool loose)
{
	struct walk walk = {
		.program = program, .buffered = buffered, .loose = loose};
	struct ending ending = {0};

	walk_on(&walk);
	ending.outcome = conclude(&walk, &ending);
	return ending;
}

struct forecast program_forecast(const struct program *program, bool buffered)
{
	return (struct forecast){
		.strict = ending_of(program, buffered, false),
		.loose = ending_of(program, buffered, true),
	};
}
