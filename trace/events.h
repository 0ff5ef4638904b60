/* events.h - from what a recorder keeps to a trace, with no file between. */
#ifndef LOCKSTEP_TRACE_EVENTS_H
#define LOCKSTEP_TRACE_EVENTS_H

#include "trace/event.h"
#include "trace/trace.h"

struct dist__recorder;

/* dist__recorder_trace makes the trace of what a recorder has kept so far of
 * all ranks. Errors: as below. */
DIST_MUST_CHECK enum dist_error
dist__recorder_trace(const struct dist__recorder *recorder,
		     struct dist__trace *trace);

/* dist__trace_of_events makes the trace that would be read if recording was
 * written; the caller releases it. Errors: NO_MEMORY; then *trace is empty. */
DIST_MUST_CHECK enum dist_error
dist__trace_of_events(const struct dist__recording *recording,
		      struct dist__trace *trace);

#endif
