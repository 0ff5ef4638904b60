/*
 * stream.h - reads a Chrome trace event by event: each value of the file is
 * extracted and parsed alone, so the file may have any size.
 */
#ifndef LOCKSTEP_TRACE_STREAM_H
#define LOCKSTEP_TRACE_STREAM_H

#include "lockstep/dist.h"

struct json_t;

/*
 * Is called with what the file holds. Values are borrowed during the call. A
 * visitor that refuses a value returns an error and writes a message; the
 * reader puts the place in the file before it.
 */
struct dist__trace_visitor {
	/* A member of the outermost object other than "traceEvents". */
	enum dist_error (*member)(const char *key, const struct json_t *value,
				  void *arg, struct dist_message *message);

	/* An element of "traceEvents". */
	enum dist_error (*event)(const struct json_t *event, void *arg,
				 struct dist_message *message);
	void *arg;
};

/*
 * dist__trace_visit reads path, which may be compressed by gzip, and calls
 * visitor. Errors: IO (not readable, damaged), INVALID_ARGUMENT (not JSON, not
 * a Chrome trace in its object form; message: "file:line:column: what was
 * expected"), NO_MEMORY, the visitor's.
 */
enum dist_error dist__trace_visit(const char *path,
				  const struct dist__trace_visitor *visitor,
				  struct dist_message *message);

#endif
