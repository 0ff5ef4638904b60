/*
 * progress.c - knows at every instant whether anything can still move.
 *
 * An actor is movable unless it waits for an act of another: for the other end
 * of a message, for a job of its lane to end, for a job to come. A transfer
 * under way, a computation, a timed sleep end by themselves. Whoever does the
 * awaited act makes the waiter movable in the same instant, so the count is
 * exact: at 0 nothing will ever happen but deadlines passing, and this very
 * instant is the deadlock. SimGrid's own detection would come only after all
 * deadlines, and kills the ranks.
 */
#include "sim/progress.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

int64_t dist__sim_now_ns(const struct dist__sim_world *world)
{
	return world->ended ? world->ended_ns
			    : llround(dist__engine->now_s() * 1e9);
}

bool dist__sim_is_late(const struct dist__sim_world *world, int64_t deadline_ns)
{
	return !world->is_patient && dist__sim_now_ns(world) >= deadline_ns;
}

double dist__sim_seconds_until(const struct dist__sim_world *world,
			       int64_t deadline_ns)
{
	int64_t until_ns = world->is_patient ? DIST_TIMEOUT_NEVER : deadline_ns;
	double seconds = (double)until_ns * 1e-9 - dist__engine->now_s();

	return seconds > 0 ? seconds : 0;
}

void dist__sim_leave_copy(const struct dist__sim_world *world, int status)
{
	if (!dist__is_copied())
		return;
	/* Otherwise who watches reads it in the records. */
	for (int rank = 0; !world->shares_board && rank < world->present;
	     rank++)
		if (world->board->slots[rank].copied)
			fprintf(stderr,
				"lockstep: a copy of rank %d, made by fork(), "
				"called: it has no part in the job\n",
				rank);
	fflush(NULL);
	_exit(status);
}

bool dist__sim_block(struct dist__sim_world *world)
{
	dist__sim_leave_copy(world, DIST_EXIT_FAILED);
	world->movable--;
	assert(world->movable >= 0);
	if (world->movable > 0 || world->unfinished == 0 || world->ended)
		return true;
	world->movable++;
	if (!world->ops->stand_still(world))
		return false;
	world->movable--;
	return true;
}

void dist__sim_unblock(struct dist__sim_world *world)
{
	world->movable++;
}

void dist__sim_break(struct dist__sim_world *world, const char *message)
{
	if (world->ended)
		return;
	fflush(stdout);
	fprintf(stderr, "lockstep: %s\n", message);
	world->ops->end(world, DIST_ERR_IO, DIST_EXIT_USAGE);
}

void dist__sim_part(struct dist__sim_world *world)
{
	world->tally.has_parted = true;
	if (!world->ended)
		world->ops->end(world, DIST_ERR_ABORTED, DIST_EXIT_OK);
}

/* ---- gates --------------------------------------------------------------- */

void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__engine_gate *gate, int64_t deadline_ns)
{
	if (!dist__sim_block(world))
		return;
	if (!dist__engine->wait_at(gate,
				   dist__sim_seconds_until(world, deadline_ns)))
		dist__sim_unblock(world);
}

void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__engine_gate *gate)
{
	if (!gate->waiter)
		return;
	dist__sim_unblock(world);
	dist__engine->open(gate);
}

void dist__sim_list_wait(struct dist__sim_world *world,
			 struct dist__sim_waiter **list, int64_t deadline_ns)
{
	struct dist__sim_actor *actor = dist__engine->self();
	struct dist__sim_waiter self = {&actor->gate, *list, false};

	*list = &self;
	dist__sim_gate_wait(world, &actor->gate, deadline_ns);
	if (self.is_out)
		return;
	while (*list != &self)
		list = &(*list)->next;
	*list = self.next;
}

/* Others run while a gate is opened, and may take themselves out. */
void dist__sim_list_open(struct dist__sim_world *world,
			 struct dist__sim_waiter **list)
{
	while (*list) {
		struct dist__sim_waiter *first = *list;

		*list = first->next;
		first->is_out = true;
		dist__sim_gate_open(world, first->gate);
	}
}
