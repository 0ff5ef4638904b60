/*
 * transport.c - the transport of a rank that is a process. Its calls are
 * requests; collectives do not come here. A lane is a thread with a seat of its
 * own, to which the simulation gives the jobs.
 */
#include "realbackend/seat/transport.h"

#include <pthread.h>
#include <stdlib.h>

#include "realbackend/seat/slot.h"

/* ---- messages --------------------------------------------------------- */

struct dist__request {
	uint32_t work;
	int *source; /* NULL: known */
};

static enum dist_error post(enum dist__seat_code code,
			    const struct dist__message *m,
			    struct dist__request **request)
{
	struct dist__request *fresh = calloc(1, sizeof *fresh);
	struct dist__seat_slot *seat;
	enum dist_error error;

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	seat = dist__seat_begin();
	seat->message = *m;
	if (m->peer == DIST_ANY_SOURCE)
		seat->members = *m->members;
	error = dist__seat_ask(seat, code);
	fresh->work = seat->work;
	fresh->source = m->peer == DIST_ANY_SOURCE ? m->source : NULL;
	dist__seat_end();
	if (error)
		free(fresh);
	else
		*request = fresh;
	return error;
}

static enum dist_error isend(struct dist__transport *t,
			     const struct dist__message *m,
			     struct dist__request **request)
{
	(void)t;
	return post(DIST__SEAT_SEND, m, request);
}

static enum dist_error irecv(struct dist__transport *t,
			     const struct dist__message *m,
			     struct dist__request **request)
{
	(void)t;
	return post(DIST__SEAT_RECV, m, request);
}

static enum dist_error wait(struct dist__transport *t,
			    struct dist__request *request, int64_t deadline_ns)
{
	struct dist__seat_slot *seat = dist__seat_begin();
	enum dist_error error;

	(void)t;
	seat->work = request->work;
	seat->time_ns = deadline_ns;
	error = dist__seat_ask(seat, DIST__SEAT_RECEIVED);
	if (request->source)
		*request->source = (int)seat->number;
	dist__seat_end();
	free(request);
	return error;
}

/* One request of which the answer is its error alone. */
static enum dist_error ask(enum dist__seat_code code, uint32_t object,
			   int64_t time_ns)
{
	struct dist__seat_slot *seat = dist__seat_begin();
	enum dist_error error;

	seat->object = object;
	seat->number = object;
	seat->time_ns = time_ns;
	error = dist__seat_ask(seat, code);
	dist__seat_end();
	return error;
}

/* One request that makes *object. */
static enum dist_error ask_for(enum dist__seat_code code, uint32_t *object)
{
	struct dist__seat_slot *seat = dist__seat_begin();
	enum dist_error error = dist__seat_ask(seat, code);

	*object = seat->object;
	dist__seat_end();
	return error;
}

/* Core looks at lanes alone. */
static bool test(struct dist__transport *t, struct dist__request *request)
{
	(void)t;
	(void)request;
	(void)ask(DIST__SEAT_LOOK, 0, 0);
	return false;
}

static int64_t now_ns(struct dist__transport *t)
{
	(void)t;
	return dist__seat_now_ns();
}

static enum dist_error compute(struct dist__transport *t, int64_t duration_ns)
{
	(void)t;
	return ask(DIST__SEAT_BUSY, 0, duration_ns);
}

static void quit(struct dist__transport *t, uint32_t group)
{
	(void)t;
	(void)ask(DIST__SEAT_QUIT, group, 0);
}

/* ---- events ----------------------------------------------------------- */

struct dist__event {
	uint32_t object;
};

static enum dist_error event_new(struct dist__transport *t,
				 struct dist__event **event)
{
	struct dist__event *fresh = malloc(sizeof *fresh);
	enum dist_error error;

	(void)t;
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	error = ask_for(DIST__SEAT_EVENT_NEW, &fresh->object);
	if (error)
		free(fresh);
	else
		*event = fresh;
	return error;
}

static enum dist_error event_wait(struct dist__event *event,
				  int64_t deadline_ns, bool gives_up)
{
	struct dist__seat_slot *seat = dist__seat_begin();
	enum dist_error error;

	seat->object = event->object;
	seat->time_ns = deadline_ns;
	seat->done = gives_up;
	error = dist__seat_ask(seat, DIST__SEAT_EVENT_WAIT);
	dist__seat_end();
	return error;
}

static void event_set(struct dist__event *event)
{
	(void)ask(DIST__SEAT_EVENT_SET, event->object, 0);
}

static void event_free(struct dist__event *event)
{
	if (event)
		(void)ask(DIST__SEAT_EVENT_FREE, event->object, 0);
	free(event);
}

static const struct dist__event_ops events = {
	.create = event_new,
	.wait = event_wait,
	.set = event_set,
	.free = event_free,
};

/* ---- lanes -------------------------------------------------------------- */

struct dist__lane {
	uint32_t object;
	struct dist__seat_slot *seat;
	pthread_t thread;
};

static _Thread_local struct dist__lane *lane_here;

static void *work(void *arg)
{
	struct dist__lane *lane = arg;
	struct dist__seat_slot *seat = lane->seat;

	lane_here = lane;
	dist__seat_take(seat);
	while (!dist__seat_ask(seat, DIST__SEAT_LANE_NEXT) && !seat->done) {
		struct dist__job *job = seat->address;

		job->run(job->arg);
	}
	return NULL;
}

static enum dist_error lane_new(struct dist__transport *t,
				struct dist__lane **lane)
{
	struct dist__lane *fresh = calloc(1, sizeof *fresh);
	enum dist_error error;

	(void)t;
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	error = ask_for(DIST__SEAT_LANE_NEW, &fresh->object);
	if (!error)
		fresh->seat = dist__seat_of((int)fresh->object - 1);
	if (!error &&
	    (!fresh->seat || pthread_create(&fresh->thread, NULL, work, fresh)))
		error = DIST_ERR_IO;
	if (error)
		free(fresh);
	else
		*lane = fresh;
	return error;
}

static enum dist_error lane_add(struct dist__lane *lane, struct dist__job *job)
{
	struct dist__seat_slot *seat = dist__seat_begin();
	enum dist_error error;

	seat->object = lane->object;
	seat->address = job;
	error = dist__seat_ask(seat, DIST__SEAT_LANE_ADD);
	dist__seat_end();
	return error;
}

static struct dist__lane *here(struct dist__transport *t)
{
	(void)t;
	return lane_here;
}

static void lane_free(struct dist__lane *lane)
{
	if (!lane)
		return;
	(void)ask(DIST__SEAT_LANE_FREE, lane->object, 0);
	(void)pthread_join(lane->thread, NULL);
	dist__seat_unmap(lane->seat);
	free(lane);
}

/* Operations of groups, which wait for them elsewhere, have no lane here. */
static const struct dist__lane_ops lanes = {
	.create = lane_new,
	.submit = lane_add,
	.here = here,
	.free = lane_free,
};

/* ---- the rest ----------------------------------------------------------- */

static enum dist_error free_transport(struct dist__transport *t)
{
	enum dist_error error = ask(DIST__SEAT_DETACH, 0, 0);

	(void)t;
	(void)dist__world_enter(NULL);
	return error;
}

/* Time is simulated; collectives, which have more to say, do not come here. */
static const struct dist__simulation_ops simulation = {.has_flow = NULL};

const struct dist__transport_ops dist__seat_transport_ops = {
	.lanes = &lanes,
	.events = &events,
	.simulation = &simulation,
	.isend = isend,
	.irecv = irecv,
	.wait = wait,
	.test = test,
	.now_ns = now_ns,
	.compute = compute,
	.abort = quit,
	.free = free_transport,
};
