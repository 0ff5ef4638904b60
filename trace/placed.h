/* placed.h - assigns the events of a recording to threads of a trace. */
#ifndef LOCKSTEP_TRACE_PLACED_H
#define LOCKSTEP_TRACE_PLACED_H

#include "trace/event.h"

/* Threads of a process in the trace. */
enum dist__thread {
	DIST__THREAD_COMPUTE,
	DIST__THREAD_COMMUNICATION,
	DIST__THREAD_P2P /* and up: messages of one rank may overlap */
};

/* An event, and where it is in a trace. Messages that are in flight at the same
 * time have different threads, and so have remote calls. */
struct dist__placed {
	const struct dist__track *track;
	const struct dist__event *event;
	int thread; /* enum dist__thread */
};

/* A rank's threads, numbered in this order: those of enum dist__thread, those
 * of its remote calls, and those of functions that it runs for others. */
struct dist__threads {
	int own, remote, served;
};

/* Is given the n events of a rank, in the order of issue, with threads. */
typedef enum dist_error
dist__placed_visitor(void *arg, int rank, const struct dist__placed *placed,
		     size_t n, const struct dist__threads *threads);

/* dist__recording_visit calls visitor for each rank in turn, also for ranks
 * without events. Errors: NO_MEMORY, the visitor's. */
DIST_MUST_CHECK enum dist_error
dist__recording_visit(const struct dist__recording *recording,
		      dist__placed_visitor *visitor, void *arg);

/* dist__recording_start_ns returns the earliest time of recording, which is 0
 * in its trace; INT64_MAX if it has no events. */
int64_t dist__recording_start_ns(const struct dist__recording *recording);

#endif
