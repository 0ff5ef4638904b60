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

/*
 * dist__trace_write writes recording to path (see dist__output_open), with
 * times relative to its earliest event; the same recording gives the same
 * bytes. Errors: IO, NO_MEMORY; message explains.
 */
enum dist_error dist__trace_write(const struct dist__recording *recording,
				  const char *path,
				  struct dist_message *message);

/* A trace of several recordings, being written. */
struct dist__trace_file {
	const char *path; /* borrowed */
	struct dist__output *output;
	int64_t base_ns; /* the clock's value at time 0 of the trace */
	bool first;      /* no event was written yet */
	enum dist_error error;
};

/* dist__trace_begin opens path and writes the head, of recording; base_ns:
 * INT64_MAX: there is no event. dist__trace_add writes all events of a
 * recording. dist__trace_end ends the file, or leaves nothing of it after an
 * error. Errors: those of dist__trace_write. */
enum dist_error dist__trace_begin(struct dist__trace_file *file,
				  const struct dist__recording *recording,
				  int64_t base_ns, const char *path,
				  struct dist_message *message);
void dist__trace_add(struct dist__trace_file *file,
		     const struct dist__recording *recording);
enum dist_error dist__trace_end(struct dist__trace_file *file,
				struct dist_message *message);

#endif
