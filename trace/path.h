/*
 * path.h - the critical path of a trace: the chain of computing and moving on
 * which the end depended, and that nothing could have shortened but itself.
 */
#ifndef LOCKSTEP_TRACE_PATH_H
#define LOCKSTEP_TRACE_PATH_H

#include "trace/trace.h"

enum dist__leg_kind {
	DIST__LEG_COMPUTE, /* a rank computes, in neighbouring spans */
	DIST__LEG_MOVE,    /* a collective or a message is under way */
	DIST__LEG_OTHER,   /* a rank does what the trace does not tell */
};

struct dist__leg {
	enum dist__leg_kind kind;
	int rank; /* whose; MOVE: of those that take part who came last */
	int64_t started_ns;
	int64_t ended_ns;
	const char *label; /* COMPUTE: of the spans */

	/* MOVE: as that rank called it. Whether it had to let another of its
	 * group end first, and when the first of the ranks was ready. */
	const struct dist__trace_call *call;
	bool queued;
	int64_t first_ns;
};

struct dist__path {
	struct dist__leg *legs; /* in order of time, one after the other */
	size_t num_legs;
	bool is_remote; /* not known, for ranks waited for remote calls */
};

/*
 * dist__path_find follows the path back from whatever ended last before to_ns
 * to from_ns. Where a rank has to wait it is told by who ended when: by its own
 * computing, or by the call that ended then. Remote calls are not followed:
 * where there are any the path has no legs. legs borrow from trace; *path is
 * to be released also after an error. Errors: NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error dist__path_find(const struct dist__trace *trace,
						int64_t from_ns, int64_t to_ns,
						struct dist__path *path);

/* dist__path_release frees what path holds. */
void dist__path_release(struct dist__path *path);

#endif
