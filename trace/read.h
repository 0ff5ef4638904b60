/*
 * read.h - reads a trace from a file: one of Lockstep, or of another program
 * (PyTorch's profiler) the communication events that have the same arguments.
 */
#ifndef LOCKSTEP_TRACE_READ_H
#define LOCKSTEP_TRACE_READ_H

#include "trace/trace.h"

/*
 * dist__trace_read reads path, plain or compressed by gzip, into *trace, which
 * the caller releases. Errors: IO, INVALID_ARGUMENT (not a trace; message:
 * "file:line:column: what was expected"), NO_MEMORY; then *trace is empty.
 */
enum dist_error dist__trace_read(const char *path, struct dist__trace *trace,
				 struct dist_message *message);

#endif
