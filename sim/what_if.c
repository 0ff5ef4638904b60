/*
 * what_if.c - whether a job that stands still would end if sends did not wait
 * for their receives, those of collectives included: as over TCP.
 *
 * A copy lets every send that waits go, buffers all later ones, and goes on.
 * There all messages are messages: in a channel, SimGrid ends a send with its
 * receive.
 */
#include "sim/what_if.h"

#include <stdlib.h>

#include "sim/channel.h"
#include "sim/copy.h"
#include "sim/gate.h"
#include "sim/progress.h"

static bool any_waiting(const struct dist__sim_queue *queue)
{
	for (const struct dist__request *r = queue->first; r; r = r->next)
		if (r->is_send && !r->eager)
			return true;
	return false;
}

/* Whether there is a send that nobody received yet, and that waits for it. */
static bool any_send_waits(const struct dist__sim_world *world)
{
	for (int i = 0; i < world->present; i++)
		if (any_waiting(&world->ranks[i].sent) ||
		    any_waiting(&world->ranks[i].arrived))
			return true;
	for (size_t i = 0; i < world->channels.count; i++)
		if (any_waiting(&world->channels.all[i]->queue))
			return true;
	return false;
}

bool dist__sim_any_message(const struct dist__sim_world *world)
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
	for (size_t i = 0; i < world->channels.count; i++)
		dist__sim_channel_loosen(world->channels.all[i]);
	(void)dist__sim_block(world);
}

enum dist__sim_answer dist__sim_ask_buffered(struct dist__sim_world *world,
					     struct check_board **board)
{
	struct dist__sim_future future;
	const struct dist__sim_news *ended = &future.news[DIST__SIM_ENDED];
	enum dist__sim_answer answer = DIST__SIM_STAYS;
	struct dist__sim_copy copy;

	*board = NULL;
	if (!any_send_waits(world))
		return DIST__SIM_STAYS;
	if (world->has_processes)
		return DIST__SIM_UNTRIED;
	if (dist__sim_copy_make(world, &copy)) {
		world->is_loose = true;
		dist__sim_unblock(world);
		dist__engine->at(dist__engine->now_s(), let_all_go, world);
		return DIST__SIM_IS_COPY;
	}
	dist__sim_copy_ask(world, &copy, &future);
	if (future.board && ended->what == DIST__SIM_ENDED) {
		if (ended->value == CHECK_FINE)
			answer = DIST__SIM_WOULD_END;
		if (ended->value == CHECK_MISMATCH)
			answer = DIST__SIM_WOULD_LACK;
	}
	if (answer == DIST__SIM_WOULD_LACK)
		*board = future.board;
	else
		free(future.board);
	return answer;
}
