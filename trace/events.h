/* events.h - makes a trace of recorded events, without a file. */
#ifndef LOCKSTEP_TRACE_EVENTS_H
#define LOCKSTEP_TRACE_EVENTS_H

#include "trace/event.h"
#include "trace/trace.h"

struct dist__recorder;

/* dist__recorder_trace makes a trace of what recorder, which has seen all
 * ranks, has stored so far. Errors: as below. */
DIST_MUST_CHECK enum dist_error
dist__recorder_trace(const struct dist__recorder *recorder,
		     struct dist__trace *trace);

/* dist__trace_of_events makes the trace that recording would give if written
 * and read; the caller releases it. Errors: NO_MEMORY; then *trace is empty. */
DIST_MUST_CHECK enum dist_error
dist__trace_of_events(const struct dist__recording *recording,
		      struct dist__trace *trace);

#endif
