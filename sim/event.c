/*
 * event.c - something that happens once at a rank, and where its program and
 * its workers wait for it.
 */
#include <stdlib.h>

#include "sim/actor.h"
#include "sim/forecast.h"
#include "sim/lane.h"
#include "sim/progress.h"

struct dist__event {
	struct dist__sim_world *world;
	bool happened;
	struct dist__sim_waiter *waiters;
};

static enum dist_error create(struct dist__transport *t,
			      struct dist__event **event)
{
	struct dist__event *fresh = calloc(1, sizeof *fresh);

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->world = ((struct dist__sim_rank *)t)->world;
	*event = fresh;
	return DIST_OK;
}

static enum dist_error wait_for(struct dist__event *event, int64_t deadline_ns,
				bool gives_up)
{
	struct dist__sim_world *world = event->world;
	struct dist__sim_actor *actor = dist__engine->self();
	bool alarm;

	dist__sim_pay(actor);
	while (!event->happened && !world->ended &&
	       !dist__sim_is_late(world, deadline_ns)) {
		/* Its alarm is something that can move. */
		alarm = gives_up && !world->is_patient;
		if (alarm)
			dist__sim_unblock(world);
		dist__sim_list_wait(world, &event->waiters, deadline_ns);
		if (alarm)
			(void)dist__sim_block(world);
		dist__sim_watch_note(actor->rank);
	}
	if (event->happened)
		return DIST_OK;
	if (world->ended)
		return world->end_error;
	if (actor == &actor->rank->actor)
		dist__sim_note_timeout(actor->rank);
	return DIST_ERR_TIMEOUT;
}

static void set(struct dist__event *event)
{
	event->happened = true;
	dist__sim_list_open(event->world, &event->waiters);
}

static void free_event(struct dist__event *event)
{
	free(event);
}

const struct dist__event_ops dist__sim_events = {
	.create = create,
	.wait = wait_for,
	.set = set,
	.free = free_event,
};
