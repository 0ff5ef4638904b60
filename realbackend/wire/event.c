/*
 * event.c - something that happens once at a rank, and where its threads sleep
 * until it has.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
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
	pthread_condattr_t monotonic;

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	dist__transport_share(transport);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&fresh->mutex, NULL);
	pthread_cond_init(&fresh->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*event = fresh;
	return DIST_OK;
}

static enum dist_error wait_for(struct dist__event *event, int64_t deadline_ns,
				bool gives_up)
{
	struct timespec until = dist__clock_timespec(deadline_ns);
	enum dist_error error = DIST_OK;

	(void)gives_up;
	pthread_mutex_lock(&event->mutex);
	while (!event->happened && !error) {
		if (deadline_ns == DIST_TIMEOUT_NEVER)
			pthread_cond_wait(&event->changed, &event->mutex);
		else if (dist__clock_ns() >= deadline_ns)
			error = DIST_ERR_TIMEOUT;
		else
			pthread_cond_timedwait(&event->changed, &event->mutex,
					       &until);
	}
	pthread_mutex_unlock(&event->mutex);
	return error;
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
