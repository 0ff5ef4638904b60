/* placed.h - the events of a recording, in the order of a trace. */
#ifndef LOCKSTEP_TRACE_PLACED_H
#define LOCKSTEP_TRACE_PLACED_H

#include "trace/event.h"

/* An event with what its place in a trace follows from. Messages in flight at
 * the same time have threads of their own, and so have remote calls. */
struct dist__placed {
	const struct dist__track *track;
	const struct dist__event *event;
	int thread; /* enum dist__thread */
};

/* How many threads a rank has, one behind the other: those of enum
 * dist__thread, of the calls that it makes on others, and of the functions that
 * it runs for them. */
struct dist__threads {
	int own, remote, served;
};

/* Gets the n events of a rank, in the order of issue, with their threads. */
typedef enum dist_error
dist__placed_visitor(void *arg, int rank, const struct dist__placed *placed,
		     size_t n, const struct dist__threads *threads);

/* dist__recording_visit tells visitor of one rank after the other, those
 * without events too. Errors: NO_MEMORY, the visitor's. */
DIST_MUST_CHECK enum dist_error
dist__recording_visit(const struct dist__recording *recording,
		      dist__placed_visitor *visitor, void *arg);

/* dist__recording_start_ns returns the earliest time of it, which is 0 in its
 * trace; INT64_MAX when nothing happened. */
int64_t dist__recording_start_ns(const struct dist__recording *recording);

#endif
