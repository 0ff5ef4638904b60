/*
 * lane.c - a worker actor beside the rank's own, on the same host, that runs
 * jobs one after the other while the rank computes.
 *
 * The worker comes with the first job and ends by itself when the lane is
 * freed, so SimGrid never has to kill one.
 */
#include "sim/world.h"

#include <assert.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/semaphore.h>

struct dist__lane {
	struct dist__lane *next; /* of the rank's */
	struct dist__sim_rank *rank;
	struct dist__job *first, *last;
	bool started;               /* there is a worker */
	bool running;               /* a job is under way */
	bool stopped;               /* the worker shall end */
	struct dist__sim_gate work; /* the worker waits here for jobs */
	struct dist__sim_gate done; /* the rank, for jobs to end */
	struct dist__sim_actor actor;
};

/* ---- the worker ----------------------------------------------------- */

static void lane_release(struct dist__lane *lane)
{
	sg_sem_destroy(lane->actor.gate.sem);
	sg_sem_destroy(lane->work.sem);
	sg_sem_destroy(lane->done.sem);
	free(lane);
}

/* Runs the jobs that are there; false: there was none. */
static bool run_jobs(struct dist__sim_world *world, struct dist__lane *lane)
{
	bool any = lane->first != NULL;

	while (lane->first) {
		struct dist__job *job = lane->first;

		lane->first = job->next;
		if (!lane->first)
			lane->last = NULL;
		lane->running = true;
		job->run(job->arg);
		lane->running = false;
		dist__sim_gate_open(world, &lane->done);
	}
	return any;
}

static void work(int argc, char **argv)
{
	struct dist__sim_actor *actor = sg_actor_self_get_data();
	struct dist__sim_world *world = actor->rank->world;
	struct dist__lane *lane = actor->lane;

	(void)argc;
	(void)argv;
	while (run_jobs(world, lane) || !lane->stopped)
		if (!lane->first && !lane->stopped)
			dist__sim_gate_wait(world, &lane->work,
					    DIST_TIMEOUT_NEVER);
	lane_release(lane);
	(void)dist__sim_block(world);
}

static void start_worker(struct dist__lane *lane)
{
	struct dist__sim_rank *rank = lane->rank;
	sg_actor_t actor;

	lane->started = true;
	dist__sim_unblock(rank->world);
	actor = sg_actor_init(
		"lane", dist__platform_host(rank->world->platform, rank->rank));
	sg_actor_set_data(actor, &lane->actor);
	sg_actor_start(actor, work, 0, NULL);
}

/* ---- the slots ------------------------------------------------------ */

enum dist_error dist__sim_lane_new(struct dist__transport *t,
				   struct dist__lane **lane)
{
	struct dist__sim_rank *rank = (struct dist__sim_rank *)t;
	struct dist__lane *fresh = calloc(1, sizeof *fresh);

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->rank = rank;
	fresh->actor = (struct dist__sim_actor){.rank = rank, .lane = fresh};
	fresh->actor.gate.sem = sg_sem_init(0);
	fresh->work.sem = sg_sem_init(0);
	fresh->done.sem = sg_sem_init(0);
	fresh->next = rank->lanes;
	rank->lanes = fresh;
	*lane = fresh;
	return DIST_OK;
}

enum dist_error dist__sim_lane_submit(struct dist__lane *lane,
				      struct dist__job *job)
{
	dist__sim_skew_call(&lane->rank->actor);
	dist__sim_pay(&lane->rank->actor);
	job->next = NULL;
	if (lane->last)
		lane->last->next = job;
	else
		lane->first = job;
	lane->last = job;
	if (lane->started)
		dist__sim_gate_open(lane->rank->world, &lane->work);
	else
		start_worker(lane);
	return DIST_OK;
}

enum dist_error dist__sim_lane_wait(struct dist__lane *lane,
				    struct dist__op *op, int64_t deadline_ns)
{
	struct dist__sim_rank *rank = lane->rank;
	struct dist__sim_world *world = rank->world;

	dist__sim_pay(&rank->actor);
	while (!dist__op_is_done(op)) {
		if (deadline_ns != DIST_TIMEOUT_NEVER && world->ended)
			return world->end_error;
		if (dist__sim_is_late(world, deadline_ns) &&
		    dist__sim_time_is_up(rank))
			return DIST_ERR_TIMEOUT;
		dist__sim_gate_wait(world, &lane->done, deadline_ns);
	}
	return DIST_OK;
}

void dist__sim_lane_notify(struct dist__lane *lane)
{
	dist__sim_gate_open(lane->rank->world, &lane->done);
}

void dist__sim_lane_free(struct dist__lane *lane)
{
	struct dist__lane **link;

	if (!lane)
		return;
	while (lane->first || lane->running)
		dist__sim_gate_wait(lane->rank->world, &lane->done,
				    DIST_TIMEOUT_NEVER);
	for (link = &lane->rank->lanes; *link != lane; link = &(*link)->next)
		assert(*link);
	*link = lane->next;
	if (!lane->started) {
		lane_release(lane);
		return;
	}
	lane->stopped = true;
	dist__sim_gate_open(lane->rank->world, &lane->work);
}
