/*
 * write.h - writes a recording as Chrome Trace Event JSON, one event a line.
 *
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 * describes the format. Arguments of communication events have the names and,
 * where possible, the texts of PyTorch's profiler
 * (torch/csrc/profiler/util.cpp, saveNcclMeta); Lockstep's own arguments
 * follow.
 */
#ifndef LOCKSTEP_TRACE_WRITE_H
#define LOCKSTEP_TRACE_WRITE_H

#include "trace/event.h"
#include "base/output.h"

struct json_t;

/* Threads of a process in the trace. */
enum dist__thread {
	DIST__THREAD_COMPUTE,
	DIST__THREAD_COMMUNICATION,
	DIST__THREAD_P2P /* and up: messages of one rank may overlap */
};

/*
 * dist__trace_write writes recording to path (see dist__output_open), with
 * times relative to its earliest event; the same recording gives the same
 * bytes. Errors: IO, NO_MEMORY; message explains.
 */
enum dist_error dist__trace_write(const struct dist__recording *recording,
				  const char *path,
				  struct dist_message *message);

/* dist__trace_begin writes the head, up to the opening bracket of the events.
 * base_ns is the clock's value at time 0 of the trace, INT64_MAX if there is
 * none; distributed and facts are borrowed. Errors: NO_MEMORY. */
enum dist_error dist__trace_begin(struct dist__output *output, int64_t base_ns,
				  const struct json_t *distributed,
				  const struct json_t *facts);

/* dist__trace_event writes one event and frees it, also after an error (NULL:
 * no memory for it); *first is true before the first event, and becomes false.
 * Errors: NO_MEMORY. */
enum dist_error dist__trace_event(struct dist__output *output,
				  struct json_t *event, bool *first);

/* dist__trace_end writes the closing brackets. */
void dist__trace_end(struct dist__output *output);

#endif
