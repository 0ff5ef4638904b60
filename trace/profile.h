/*
 * profile.h - what is done to a trace of torch.profiler once it is read.
 */
#ifndef LOCKSTEP_TRACE_PROFILE_H
#define LOCKSTEP_TRACE_PROFILE_H

#include "trace/trace.h"

/*
 * dist__trace_align brings the clocks of ranks, which profilers of several
 * hosts do not share, to that of the lowest rank. trace is in order. Two ranks
 * are set so that the collectives in which all wait for all end at one time on
 * both: by the median over these. Ranks without a collective in common with
 * those that are set keep their clock. Errors: NO_MEMORY.
 */
enum dist_error dist__trace_align(struct dist__trace *trace);

/* dist__trace_from_zero makes the times of trace relative to its first event.
 */
void dist__trace_from_zero(struct dist__trace *trace);

#endif
