/*
 * event.c - an event that happens once on a rank; threads sleep until it has
 * happened.
 */
#include <stdlib.h>

#include "base/wait.h"
#include "realbackend/wire/lane.h"

struct dist__event {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool happened;
};

static enum dist_error create(struct dist__transport *transport,
			      struct dist__event **event)
{
	struct dist__event *fresh = calloc(1, sizeof *fresh);

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	dist__transport_share(transport);
	pthread_mutex_init(&fresh->mutex, NULL);
	dist__condition_init(&fresh->changed);
	*event = fresh;
	return DIST_OK;
}

static enum dist_error wait_for(struct dist__event *event, int64_t deadline_ns,
				bool gives_up)
{
	bool in_time = true;

	(void)gives_up;
	pthread_mutex_lock(&event->mutex);
	while (!event->happened && in_time)
		in_time = dist__condition_wait(&event->changed, &event->mutex,
					       deadline_ns);
	pthread_mutex_unlock(&event->mutex);
	return in_time ? DIST_OK : DIST_ERR_TIMEOUT;
}

static void set(struct dist__event *event)
{
	pthread_mutex_lock(&event->mutex);
	event->happened = true;
	pthread_cond_broadcast(&event->changed);
	pthread_mutex_unlock(&event->mutex);
}

static void free_event(struct dist__event *event)
{
	if (!event)
		return;
	pthread_cond_destroy(&event->changed);
	pthread_mutex_destroy(&event->mutex);
	free(event);
}

const struct dist__event_ops dist__events = {
	.create = create,
	.wait = wait_for,
	.set = set,
	.free = free_event,
};
