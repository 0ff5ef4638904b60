/*
 * watch_state.h - a simulation that another process watches: what both see, and
 * what is reported when a rank ends the process, or computes for ever.
 *
 * All simulated ranks share one process, so the end of one is the end of all,
 * and nobody is left in there to tell. Whoever starts the process, lockstep
 * run, holds the records and a few words more in memory that it shares with it.
 * A simulation that nobody watches, as of a program started by hand, tells what
 * it can in a copy of the process that a signal is about to end.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_WATCH_STATE_H
#define LOCKSTEP_SIM_WATCH_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/tally.h"

/* Calls that led to where a rank was, at most. */
#define DIST__SIM_FRAMES 32
/* Bytes of a replay token that are kept, its end included. */
#define DIST__SIM_TOKEN_SIZE 512

enum dist__sim_phase {
	DIST__SIM_IDLE, /* nothing is simulated, or all is reported */
	DIST__SIM_BUSY  /* a death is to be reported */
};

/* How the rank program that runs was met. */
enum dist__sim_spot {
	DIST__SIM_NOWHERE, /* it has not been looked for */
	DIST__SIM_PROGRAM, /* in the code of a rank */
	DIST__SIM_CALL,    /* in a call that the rank waits in */
	DIST__SIM_ENGINE   /* in none: the engine works */
};

/* Of the process that simulates, written by it alone. */
struct dist__sim_watch {
	uint64_t magic;
	pid_t watcher; /* 0: nobody watches */
	pid_t process;
	uint32_t phase;  /* enum dist__sim_phase */
	int32_t running; /* the rank whose program was at work last */
	uint64_t steps;  /* that were taken: of the clock, and by ranks */
	int64_t now_ns;  /* simulated time */
	int64_t timeout_ns;
	uint64_t stack_bytes; /* of every rank */
	struct dist__tally tally;
	char token[DIST__SIM_TOKEN_SIZE]; /* "": none */

	/* Written by the handler of a signal; the number comes last. */
	uint32_t spot; /* enum dist__sim_spot */
	int32_t rank;
	uint32_t overflow; /* its stack was too small */
	int32_t number;    /* of the signal; 0: none came */
	uintptr_t frames[DIST__SIM_FRAMES];
};

/* The records lie so far behind the beginning of the memory that is shared. */
#define DIST__SIM_RECORDS 4096
/* Asks the process where it is. By itself it does nothing. */
#define DIST__SIM_LOOK_SIGNAL SIGURG
/* Names it, by the number of its file. */
#define DIST__SIM_WATCH_VARIABLE "LOCKSTEP_WATCH_FD"
#define DIST__SIM_WATCH_MAGIC    UINT64_C(0x6c6f636b77617463)

_Static_assert(sizeof(struct dist__sim_watch) <= DIST__SIM_RECORDS,
	       "the records begin behind it");

#endif
