/* placed.c - assigns the events of a recording to threads of a trace. */
#include "trace/placed.h"

#include <stdlib.h>

/* Threads that overlapping messages of one rank are spread over at most, and
 * remote calls, and functions. */
#define MOST_THREADS 16

/* ---- one rank --------------------------------------------------------- */

/* As issued; compute spans after the calls of the same instant. */
static int by_issue(const void *a, const void *b)
{
	const struct dist__placed *x = a, *y = b;
	bool x_computes = x->event->kind == DIST__EVENT_COMPUTE;
	bool y_computes = y->event->kind == DIST__EVENT_COMPUTE;

	if (x->event->issued_ns != y->event->issued_ns)
		return x->event->issued_ns < y->event->issued_ns ? -1 : 1;
	if (x_computes != y_computes)
		return x_computes - y_computes;
	if (x->event->call != y->event->call)
		return x->event->call < y->event->call ? -1 : 1;
	if (x->track->group_id != y->track->group_id)
		return x->track->group_id < y->track->group_id ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/* When each of some threads is free; what does not find a free one goes to the
 * last. */
struct spread {
	int64_t busy_until[MOST_THREADS];
	int used;
};

static int place(struct spread *spread, const struct dist__event *event)
{
	int i = 0;

	while (i < spread->used && i < MOST_THREADS - 1 &&
	       spread->busy_until[i] > event->started_ns)
		i++;
	if (i >= spread->used)
		spread->used = i + 1;
	spread->busy_until[i] = event->ended_ns;
	return i;
}

/* Gives each event its thread, and counts them. What is in flight at the same
 * time, of messages, remote calls and functions served, gets threads of its
 * own, for a viewer nests what overlaps on one. */
static struct dist__threads choose_threads(struct dist__placed *placed,
					   size_t n)
{
	struct spread p2p = {.used = 0}, remote = p2p, served = p2p;
	struct dist__threads threads;

	for (size_t k = 0; k < n; k++) {
		const struct dist__event *event = placed[k].event;

		placed[k].thread = DIST__THREAD_COMMUNICATION;
		if (event->kind == DIST__EVENT_COMPUTE)
			placed[k].thread = DIST__THREAD_COMPUTE;
		else if (event->kind == DIST__EVENT_REMOTE)
			placed[k].thread = place(&remote, event);
		else if (event->kind == DIST__EVENT_SERVED)
			placed[k].thread = place(&served, event);
		else if (dist__op_is_p2p((enum dist__op_kind)event->kind))
			placed[k].thread =
				DIST__THREAD_P2P + place(&p2p, event);
	}
	threads = (struct dist__threads){DIST__THREAD_P2P + p2p.used,
					 remote.used, served.used};
	for (size_t k = 0; k < n; k++)
		if (dist__event_is_remote(placed[k].event))
			placed[k].thread +=
				placed[k].event->kind == DIST__EVENT_SERVED
					? threads.own + threads.remote
					: threads.own;
	return threads;
}

/* Tells visitor of num_tracks tracks of one rank. */
static enum dist_error visit_rank(struct dist__track *const *tracks,
				  size_t num_tracks,
				  dist__placed_visitor *visitor, void *arg)
{
	struct dist__placed *placed;
	size_t total = 0, n = 0;
	struct dist__threads threads;
	enum dist_error error;

	for (size_t i = 0; i < num_tracks; i++)
		total += tracks[i]->num_events;
	placed = calloc(total + 1, sizeof *placed);
	if (!placed)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < num_tracks; i++)
		for (size_t k = 0; k < tracks[i]->num_events; k++)
			placed[n++] = (struct dist__placed){
				tracks[i], &tracks[i]->events[k], 0};
	qsort(placed, n, sizeof *placed, by_issue);
	threads = choose_threads(placed, n);
	error = visitor(arg, tracks[0]->rank, placed, n, &threads);
	free(placed);
	return error;
}

/* ---- all ranks -------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
	const struct dist__track *x = *(struct dist__track *const *)a;
	const struct dist__track *y = *(struct dist__track *const *)b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->group_id > y->group_id) - (x->group_id < y->group_id);
}

static enum dist_error sorted_tracks(const struct dist__recording *recording,
				     struct dist__track ***tracks, size_t *num)
{
	size_t n = 0;

	for (struct dist__track *t = recording->tracks; t; t = t->next)
		n++;
	*num = n;
	*tracks = calloc(n + 1, sizeof(struct dist__track *));
	if (!*tracks)
		return DIST_ERR_NO_MEMORY;
	n = 0;
	for (struct dist__track *t = recording->tracks; t; t = t->next)
		(*tracks)[n++] = t;
	qsort(*tracks, n, sizeof(struct dist__track *), by_rank);
	return DIST_OK;
}

enum dist_error dist__recording_visit(const struct dist__recording *recording,
				      dist__placed_visitor *visitor, void *arg)
{
	struct dist__track **tracks;
	size_t n, next;
	enum dist_error error = sorted_tracks(recording, &tracks, &n);

	for (size_t i = 0; !error && i < n; i = next) {
		for (next = i + 1; next < n; next++)
			if (tracks[next]->rank != tracks[i]->rank)
				break;
		error = visit_rank(tracks + i, next - i, visitor, arg);
	}
	free(tracks);
	return error;
}

int64_t dist__recording_start_ns(const struct dist__recording *recording)
{
	int64_t earliest = INT64_MAX;

	for (struct dist__track *t = recording->tracks; t; t = t->next)
		for (size_t i = 0; i < t->num_events; i++)
			if (t->events[i].issued_ns < earliest)
				earliest = t->events[i].issued_ns;
	return earliest;
}
