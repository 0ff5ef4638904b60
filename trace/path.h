/*
 * path.h - the critical path of a trace: the chain of compute spans and
 * transfers on which its end depends: only these could shorten it.
 */
#ifndef LOCKSTEP_TRACE_PATH_H
#define LOCKSTEP_TRACE_PATH_H

#include "trace/trace.h"

enum dist__leg_kind {
	DIST__LEG_COMPUTE, /* a rank computes, in neighbouring spans */
	DIST__LEG_MOVE,    /* a collective or a message is in flight */
	DIST__LEG_OTHER,   /* a rank does what is not in the trace */
};

struct dist__leg {
	enum dist__leg_kind kind;
	int rank; /* MOVE: the participant that came last */
	int64_t started_ns;
	int64_t ended_ns;
	const char *label; /* COMPUTE: of the spans */

	/* MOVE: the call on that rank; whether it had to wait for another call
	 * of its group; and when the first of the ranks was ready. */
	const struct dist__trace_call *call;
	bool queued;
	int64_t first_ns;
	bool untold; /* of some of its ranks the trace tells nothing */
};

struct dist__path {
	struct dist__leg *legs; /* in order of time, one after the other */
	size_t num_legs;
	bool is_remote; /* unknown: ranks waited for remote calls */
};

/*
 * dist__path_find follows the path backwards from the last end before to_ns to
 * from_ns. Where a rank waited, the path continues with what ended then: its
 * own compute span, or a call. Remote calls are not followed: if there are any,
 * the path has no legs. legs borrow from trace; release *path also after an
 * error. Errors: NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error dist__path_find(const struct dist__trace *trace,
						int64_t from_ns, int64_t to_ns,
						struct dist__path *path);

/* dist__path_release frees what path owns. */
void dist__path_release(struct dist__path *path);

#endif
