/*
 * run.c - the run of a world that is open: every rank program is an actor
 * inside this process.
 */
#include "sim/run.h"

#include <malloc.h>
#include <stdio.h>

#include "sim/ending.h"
#include "sim/lane.h"
#include "sim/progress.h"
#include "sim/transport.h"
#include "sim/watch.h"
#include "trace/recorder.h"

/* A process has one engine; while it runs, all code runs in it. */
static struct dist__sim_world *running;

struct dist__sim_world *dist__sim_running(void)
{
	return running;
}

/* The end of a rank. One that failed keeps the state in which it got stuck, for
 * the verdict. */
static void finish(struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	struct check_slot *slot = &world->board->slots[rank->rank];

	if (slot->state != CHECK_RANK_WAITING && !rank->killed_by)
		slot->state = CHECK_RANK_FINISHED;
	dist__sim_close(rank);
	world->unfinished--;
#ifdef __GLIBC__
	/* What the ranks held is free now, and lies between their stacks. The
	 * engine is about to free those, which writes a page that was never
	 * used into each. */
	if (world->unfinished == 0)
		malloc_trim(0);
#endif
	(void)dist__sim_block(world);
}

static void rank_actor(void *arg)
{
	struct dist__sim_actor *actor = arg;

	dist__sim_watch_rank(actor->rank);
}

static void start_rank(struct dist__sim_rank *rank)
{
	const struct dist__sim_world *world = rank->world;

	dist__engine->spawn(
		dist__platform_seat(world->platform, rank->rank),
		dist__platform_can_copy() ? (size_t)world->stack_bytes : 0,
		rank_actor, &rank->actor);
}

static const struct dist__sim_world_ops world_ops = {
	.stand_still = dist__sim_stand_still,
	.end = dist__sim_end,
	.finish = finish,
	.rank_of_lane = dist__sim_lane_rank,
};

int dist__sim_run(struct dist__sim_world *world)
{
	int status;

	world->ops = &world_ops;
	world->movable = world->present;
	world->unfinished = world->present;
	for (int rank = 0; rank < world->present; rank++)
		start_rank(&world->ranks[rank]);
	dist__sim_watch_begin(world);
	running = world;
	dist__engine->run(dist__sim_watch_advance, world);
	running = NULL;
	if (world->unfinished > 0) {
		fprintf(stderr, "lockstep: internal error: the simulation "
				"stopped with ranks still in it\n");
		status = DIST_EXIT_INTERNAL;
	} else {
		status = dist__sim_exit_status(world);
	}
	dist__sim_watch_end(world, status);
	return status;
}

void dist__sim_note_p2p(const struct dist__sim_world *world)
{
	char text[32];

	dist__p2p_mode_print(&world->profile.p2p, text, sizeof text);
	dist__recorder_add_fact(world->recorder, "p2p", "%s", text);
}

bool dist__sim_follow(struct dist__sim_world *world,
		      const struct dist__sim_plan *plan)
{
	if (plan->p2p[0] &&
	    !dist__p2p_mode_parse(&world->profile.p2p, plan->p2p))
		return false;
	dist__sim_note_p2p(world);
	world->plan = plan;
	return true;
}
