/*
 * log.h - what a run that is one of many leaves to whom explores, in memory
 * that both share. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_LOG_H
#define LOCKSTEP_SIM_LOG_H

#include "check/verdict.h"
#include "sim/plan.h"

/* A run of more is not searched further. */
#define DIST__SIM_STEPS   4096
#define DIST__SIM_OPTIONS 65536

/* A moment when nothing else could move, and a message was taken, or a look
 * told. */
struct dist__sim_step {
	uint32_t first, count; /* the options that there were, in the log */
	uint32_t taken;        /* which of them */

	/* A message came later that the receive could have taken, of a sender
	 * that was no option, or what was looked at was complete later: had
	 * others gone first, it would have been an option. */
	bool raced;

	/* The number of the call that a rank looked at; 0: a message was taken.
	 * What fits the receive; and the two calls that met, or the one that
	 * was looked at: their op is "" where the records have forgotten. */
	uint32_t look;
	uint32_t group, joined;
	int tag;
	struct check_call receive, send;
};

enum dist__sim_fate {
	DIST__SIM_GONE,     /* it has not reported: it crashed, or never ends */
	DIST__SIM_JUDGED,   /* it ended with the verdict */
	DIST__SIM_LATE,     /* a deadline passed, maybe because of the plan */
	DIST__SIM_REDUNDANT /* it came to where only known runs go on */
};

struct dist__sim_log {
	enum dist__sim_fate fate;
	struct check_verdict verdict;
	uint64_t values; /* hash of all bytes that ranks sent */
	bool wrote;      /* there were messages of the program */
	bool any;        /* and receives of them from any source */
	bool looked;     /* a rank looked at what was not complete */
	bool full;       /* steps are missing */
	uint32_t num_steps, num_options;
	struct dist__sim_option options[DIST__SIM_OPTIONS];
	struct dist__sim_step steps[DIST__SIM_STEPS];
};

#endif
