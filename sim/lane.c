/*
 * lane.c - a worker actor beside the rank's own, on the same host, that runs
 * jobs one after the other while the rank computes.
 *
 * The worker comes with the first job and ends by itself when the lane is
 * freed, so the engine never has to kill one. Flows are joined by whoever is at
 * hand: who submits them, or who ends what was before them; a lane that has
 * nothing else has no worker.
 */
#include "sim/lane.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/actor.h"
#include "sim/delay_injection.h"
#include "sim/forecast.h"
#include "sim/progress.h"

struct dist__lane {
	struct dist__lane *next; /* of the rank's */
	struct dist__sim_rank *rank;
	struct dist__job *first, *last;
	bool started;                  /* there is a worker */
	bool running;                  /* a job is under way, or a flow */
	bool stopped;                  /* the worker shall end */
	struct dist__engine_gate work; /* the worker waits here for jobs */
	struct dist__engine_gate done; /* the rank, for jobs to end */
	struct dist__sim_actor actor;
};

/* ---- the worker ----------------------------------------------------- */

static struct dist__job *take(struct dist__lane *lane)
{
	struct dist__job *job = lane->first;

	lane->first = job->next;
	if (!lane->first)
		lane->last = NULL;
	lane->running = true;
	return job;
}

/* Whether the next job is one for the worker, now. */
static bool has_work(const struct dist__lane *lane)
{
	return lane->first && !lane->first->is_flow && !lane->running;
}

static void work(void *arg);

/* Joins the flows that are next, and wakes the worker for what comes then. */
static void go_on(struct dist__lane *lane)
{
	while (lane->first && lane->first->is_flow && !lane->running) {
		struct dist__job *job = take(lane);

		job->run(job->arg);
	}
	if (!has_work(lane))
		return;
	if (lane->started)
		dist__sim_gate_open(lane->rank->world, &lane->work);
	else {
		struct dist__sim_rank *rank = lane->rank;

		lane->started = true;
		dist__sim_unblock(rank->world);
		dist__engine->spawn(
			dist__platform_seat(rank->world->platform, rank->rank),
			0, work, &lane->actor);
	}
}

static void work(void *arg)
{
	struct dist__sim_actor *actor = arg;
	struct dist__sim_world *world = actor->rank->world;
	struct dist__lane *lane = actor->lane;

	while (has_work(lane) || !lane->stopped) {
		/* Runs the jobs that are there, up to a flow. */
		while (has_work(lane)) {
			struct dist__job *job = take(lane);

			job->run(job->arg);
			lane->running = false;
			dist__sim_gate_open(world, &lane->done);
		}
		go_on(lane);
		if (!has_work(lane) && !lane->stopped)
			dist__sim_gate_wait(world, &lane->work,
					    DIST_TIMEOUT_NEVER);
	}
	free(lane);
	(void)dist__sim_block(world);
}

/* ---- the slots ------------------------------------------------------ */

static enum dist_error create(struct dist__transport *t,
			      struct dist__lane **lane)
{
	struct dist__sim_rank *rank = (struct dist__sim_rank *)t;
	struct dist__lane *fresh = calloc(1, sizeof *fresh);

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->rank = rank;
	fresh->actor = (struct dist__sim_actor){.rank = rank, .lane = fresh};
	fresh->next = rank->lanes;
	rank->lanes = fresh;
	*lane = fresh;
	return DIST_OK;
}

static enum dist_error submit(struct dist__lane *lane, struct dist__job *job)
{
	struct dist__sim_actor *actor = dist__engine->self();

	dist__sim_delay_call(actor);
	dist__sim_pay(actor);
	job->next = NULL;
	if (lane->last)
		lane->last->next = job;
	else
		lane->first = job;
	lane->last = job;
	go_on(lane);
	dist__sim_watch_note(lane->rank);
	return DIST_OK;
}

static enum dist_error wait_for(struct dist__lane *lane, struct dist__op *op,
				int64_t deadline_ns)
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
		dist__sim_watch_note(rank);
	}
	return DIST_OK;
}

static void notify(struct dist__lane *lane)
{
	dist__sim_gate_open(lane->rank->world, &lane->done);
}

void dist__sim_lane_over(struct dist__lane *lane)
{
	lane->running = false;
	go_on(lane);
	/* Last: who waits there may free the lane. */
	dist__sim_gate_open(lane->rank->world, &lane->done);
}

static struct dist__lane *here(struct dist__transport *t)
{
	const struct dist__sim_actor *actor = dist__engine->self();

	(void)t;
	return actor->lane;
}

struct dist__sim_rank *dist__sim_lane_rank(struct dist__sim_world *world,
					   const void *actor)
{
	for (int i = 0; i < world->present; i++)
		for (const struct dist__lane *lane = world->ranks[i].lanes;
		     lane; lane = lane->next)
			if (&lane->actor == actor)
				return lane->rank;
	return NULL;
}

static void free_lane(struct dist__lane *lane)
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
		free(lane);
		return;
	}
	lane->stopped = true;
	dist__sim_gate_open(lane->rank->world, &lane->work);
}

const struct dist__lane_ops dist__sim_lanes = {
	.create = create,
	.submit = submit,
	.wait = wait_for,
	.notify = notify,
	.here = here,
	.free = free_lane,
};
