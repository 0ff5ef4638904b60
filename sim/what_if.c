/*
 * what_if.c - whether a job that stands still would end if sends did not wait
 * for their receives.
 *
 * A copy lets every send that waits go, buffers all later ones, and goes on.
 */
#include "sim/world.h"

#include <stdint.h>
#include <stdlib.h>

#include "sim/engine_shim.h"

bool dist__sim_any_letter(const struct dist__sim_world *world)
{
	for (int i = 0; i < world->present; i++)
		if (world->ranks[i].sent.first || world->ranks[i].arrived.first)
			return true;
	return false;
}

static void let_go(struct dist__sim_world *world, struct dist__sim_queue *queue)
{
	for (struct dist__request *r = queue->first; r; r = r->next) {
		r->eager = r->done = true;
		if (r->gate)
			dist__sim_gate_open(world, r->gate);
	}
}

static void let_all_go(void *arg)
{
	struct dist__sim_world *world = arg;

	for (int i = 0; i < world->present; i++) {
		let_go(world, &world->ranks[i].sent);
		let_go(world, &world->ranks[i].arrived);
	}
	(void)dist__sim_block(world);
}

enum dist__sim_answer dist__sim_ask_buffered(struct dist__sim_world *world)
{
	struct dist__sim_future future;
	const struct dist__sim_news *ended = &future.news[DIST__SIM_ENDED];
	struct dist__sim_copy copy;

	if (world->profile.p2p.eager_below == SIZE_MAX ||
	    !dist__sim_any_letter(world))
		return DIST__SIM_STAYS;
	if (dist__sim_copy_make(world, &copy)) {
		world->profile.p2p.eager_below = SIZE_MAX;
		dist__sim_unblock(world);
		dist__engine_at_end_of_instant(let_all_go, world);
		return DIST__SIM_IS_COPY;
	}
	dist__sim_copy_ask(world, &copy, &future);
	free(future.board);
	return ended->what == DIST__SIM_ENDED && !ended->value
		       ? DIST__SIM_WOULD_END
		       : DIST__SIM_STAYS;
}
