/* lane.c - a thread of a rank that runs one job after the other; and events. */
#include "realbackend/wire/lane.h"

#include <stdlib.h>

#include "base/wait.h"

struct dist__lane {
	pthread_mutex_t mutex;
	pthread_cond_t filled; /* to the thread: a job, or the end */
	pthread_cond_t ended;  /* to wait_for(): some op was finished */
	struct dist__job *first, **end;
	pthread_t thread;
	bool started, closing;
};

/* Whose thread this is; NULL: no lane's. */
static _Thread_local struct dist__lane *own;

/* Runs the jobs one by one; ends once the lane closes and none is left. */
static void *run_jobs(void *arg)
{
	struct dist__lane *lane = arg;
	struct dist__job *job;

	own = lane;
	pthread_mutex_lock(&lane->mutex);
	for (;;) {
		while (!lane->first && !lane->closing)
			pthread_cond_wait(&lane->filled, &lane->mutex);
		job = lane->first;
		if (!job)
			break;
		lane->first = job->next;
		if (!lane->first)
			lane->end = &lane->first;
		pthread_mutex_unlock(&lane->mutex);
		/* The job may free itself: it is not touched after this. */
		job->run(job->arg);
		pthread_mutex_lock(&lane->mutex);
	}
	pthread_mutex_unlock(&lane->mutex);
	return NULL;
}

static enum dist_error create(struct dist__transport *transport,
			      struct dist__lane **lane)
{
	struct dist__lane *fresh = calloc(1, sizeof *fresh);

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	dist__transport_share(transport);
	pthread_mutex_init(&fresh->mutex, NULL);
	dist__condition_init(&fresh->filled);
	dist__condition_init(&fresh->ended);
	fresh->end = &fresh->first;
	*lane = fresh;
	return DIST_OK;
}

static enum dist_error submit(struct dist__lane *lane, struct dist__job *job)
{
	if (!lane->started)
		lane->started =
			dist__thread_start(&lane->thread, run_jobs, lane);
	if (!lane->started)
		return DIST_ERR_IO;
	pthread_mutex_lock(&lane->mutex);
	job->next = NULL;
	*lane->end = job;
	lane->end = &job->next;
	pthread_cond_signal(&lane->filled);
	pthread_mutex_unlock(&lane->mutex);
	return DIST_OK;
}

static enum dist_error wait_for(struct dist__lane *lane, struct dist__op *op,
				int64_t deadline_ns)
{
	bool in_time = true;

	pthread_mutex_lock(&lane->mutex);
	while (!dist__op_is_done(op) && in_time)
		in_time = dist__condition_wait(&lane->ended, &lane->mutex,
					       deadline_ns);
	pthread_mutex_unlock(&lane->mutex);
	return in_time ? DIST_OK : DIST_ERR_TIMEOUT;
}

static void notify(struct dist__lane *lane)
{
	pthread_mutex_lock(&lane->mutex);
	pthread_cond_broadcast(&lane->ended);
	pthread_mutex_unlock(&lane->mutex);
}

static struct dist__lane *here(struct dist__transport *transport)
{
	(void)transport;
	return own;
}

static void free_lane(struct dist__lane *lane)
{
	if (!lane)
		return;
	pthread_mutex_lock(&lane->mutex);
	lane->closing = true;
	pthread_cond_signal(&lane->filled);
	pthread_mutex_unlock(&lane->mutex);
	if (lane->started)
		pthread_join(lane->thread, NULL);
	pthread_cond_destroy(&lane->filled);
	pthread_cond_destroy(&lane->ended);
	pthread_mutex_destroy(&lane->mutex);
	free(lane);
}

const struct dist__lane_ops dist__lanes = {
	.create = create,
	.submit = submit,
	.wait = wait_for,
	.notify = notify,
	.here = here,
	.free = free_lane,
};

/* ---- events: threads of the rank sleep until one has happened ----------- */

struct dist__event {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool happened;
};

static enum dist_error event_create(struct dist__transport *transport,
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

static enum dist_error event_wait(struct dist__event *event,
				  int64_t deadline_ns, bool gives_up)
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

static void event_set(struct dist__event *event)
{
	pthread_mutex_lock(&event->mutex);
	event->happened = true;
	pthread_cond_broadcast(&event->changed);
	pthread_mutex_unlock(&event->mutex);
}

static void event_free(struct dist__event *event)
{
	if (!event)
		return;
	pthread_cond_destroy(&event->changed);
	pthread_mutex_destroy(&event->mutex);
	free(event);
}

const struct dist__event_ops dist__events = {
	.create = event_create,
	.wait = event_wait,
	.set = event_set,
	.free = event_free,
};
