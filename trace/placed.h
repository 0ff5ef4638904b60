/* placed.h - the events of a recording, in the order of a trace. */
#ifndef LOCKSTEP_TRACE_PLACED_H
#define LOCKSTEP_TRACE_PLACED_H

#include "trace/event.h"

/* An event with what its place in a trace follows from. Messages in flight at
 * the same time have threads of their own. */
struct dist__placed {
	const struct dist__track *track;
	const struct dist__event *event;
	int thread; /* enum dist__thread */
};

/* Is told of the n events of a rank, as issued, on num_threads threads. */
typedef enum dist_error dist__placed_visitor(void *arg, int rank,
					     const struct dist__placed *placed,
					     size_t n, int num_threads);

/* dist__recording_visit tells visitor of one rank after the other, those
 * without events too. Errors: NO_MEMORY, the visitor's. */
DIST_MUST_CHECK enum dist_error
dist__recording_visit(const struct dist__recording *recording,
		      dist__placed_visitor *visitor, void *arg);

/* dist__recording_start_ns returns the earliest time of it, which is 0 in its
 * trace; INT64_MAX when nothing happened. */
int64_t dist__recording_start_ns(const struct dist__recording *recording);

#endif
