/*
 * read.h - reads a trace: a file of Lockstep or of torch.profiler, or a folder
 * of the latter's, one a rank. Of a profile come the collectives, and the
 * kernels of the GPU as computing.
 */
#ifndef LOCKSTEP_TRACE_READ_H
#define LOCKSTEP_TRACE_READ_H

#include "trace/trace.h"

/*
 * dist__trace_read reads path, plain or compressed by gzip, or all *.json and
 * *.json.gz of a folder, into *trace, which the caller releases. Facts "left
 * out", "times" and "clocks" say what to know of a profile. Errors: IO,
 * INVALID_ARGUMENT (not a trace; message: "file:line:column: what was
 * expected"), NO_MEMORY; then *trace is empty.
 */
enum dist_error dist__trace_read(const char *path, struct dist__trace *trace,
				 struct dist_message *message);

#endif
