/*
 * forecast.c - what would have come of a call that ran into its deadline: who
 * would have come, and when, and whether the run would have ended.
 *
 * A copy of that instant goes on as if there were no deadlines.
 */
#include "sim/world.h"

#include <stdlib.h>

/* In the copy: notes whom the late call waits for. */
static uint32_t look(struct dist__sim_world *world)
{
	return check_awaited(world->board, (uint32_t)world->late_rank,
			     world->awaited);
}

/* Makes this process, the copy, one without deadlines. */
static void begin(struct dist__sim_world *world, int late_rank)
{
	world->is_patient = true;
	world->late_rank = late_rank;
	world->awaited = calloc((size_t)world->present, 1);
	if (world->awaited)
		(void)look(world);
	free(world->late_board);
	world->late_board = NULL;
}

bool dist__sim_time_is_up(struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	bool first = !world->late_board && !world->ended;

	if (world->is_patient)
		return false;
	dist__sim_note_timeout(rank);
	if (!first || world->is_copy ||
	    !dist__sim_copy_make(world, &world->patience))
		return true;
	begin(world, rank->rank);
	return false;
}

void dist__sim_note_call(const struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	struct dist__sim_news came = {DIST__SIM_CAME, rank->rank, 0};

	if (!world->awaited || !world->awaited[rank->rank] || look(world) > 0)
		return;
	came.at_ns = dist__sim_now_ns(world);
	dist__sim_tell(world, &came);
}

void dist__sim_look_ahead(struct dist__sim_world *world,
			  struct check_facts *facts,
			  struct check_verdict *verdict)
{
	struct dist__sim_future future;
	const struct dist__sim_news *news = future.news;
	enum check_verdict_kind stuck;

	if (verdict->kind != CHECK_TIMEOUT)
		return;
	dist__sim_copy_ask(world, &world->patience, &future);
	facts->forecast = (struct check_forecast){
		.rank = news[DIST__SIM_CAME].value,
		.came_ns = news[DIST__SIM_CAME].at_ns,
		.ended_ns = news[DIST__SIM_ENDED].at_ns,
	};
	stuck = (enum check_verdict_kind)news[DIST__SIM_STUCK].value;
	if (!future.board ||
	    (stuck != CHECK_DEADLOCK && stuck != CHECK_BUFFERING)) {
		free(future.board);
		return;
	}
	free(world->late_board);
	world->late_board = future.board;
	facts->forecast.stuck_ns = news[DIST__SIM_STUCK].at_ns;
	facts->nothing_moves = 1;
	*verdict = check_judge(world->late_board, facts);
	verdict->kind = stuck;
}
