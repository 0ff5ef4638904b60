/*
 * log.h - what a run of an exploration reports to the exploring process, in
 * shared memory. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_LOG_H
#define LOCKSTEP_SIM_LOG_H

#include "check/verdict.h"
#include "sim/plan.h"

/* A run with more steps or options is not searched further. */
#define DIST__SIM_STEPS   4096
#define DIST__SIM_OPTIONS 65536

/* A state in which nothing else could move, and in which a message was taken or
 * a test of completion answered. */
struct dist__sim_step {
	uint32_t first, count; /* its options, in the log */
	uint32_t taken;        /* which of them */

	/* Later a message came that the receive could have taken, from a sender
	 * that was no option; or what was tested became complete. In another
	 * order it would have been an option. */
	bool raced;

	/* The number of the tested call; 0: a message was taken. Then what the
	 * receive matches, and the two matched calls, or the tested one; their
	 * op is "" if they are no longer in the records. */
	uint32_t look;
	uint32_t group, joined;
	int tag;
	struct check_call receive, send;
};

enum dist__sim_fate {
	DIST__SIM_GONE,     /* it did not report: it crashed, or does not end */
	DIST__SIM_JUDGED,   /* it ended with verdict */
	DIST__SIM_LATE,     /* a deadline passed, perhaps because of the plan */
	DIST__SIM_REDUNDANT /* from its state on, all continuations are known */
};

struct dist__sim_log {
	enum dist__sim_fate fate;
	struct check_verdict verdict;
	uint64_t values; /* hash of all bytes that ranks sent */
	bool wrote;      /* the program sent messages */
	bool any;        /* and posted receives from any source */
	bool looked;     /* a rank tested an operation that was not complete */
	bool full;       /* steps are missing */
	uint32_t num_steps, num_options;
	struct dist__sim_option options[DIST__SIM_OPTIONS];
	struct dist__sim_step steps[DIST__SIM_STEPS];
};

#endif
