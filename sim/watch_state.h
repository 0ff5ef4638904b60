/*
 * watch_state.h - a simulation that another process watches: the memory that
 * both share, from which the other reports when a rank ends the process, or
 * computes for ever.
 *
 * All simulated ranks share one process: when one ends it, none is left to
 * report. So lockstep run, which starts the process, shares with it the records
 * and struct dist__sim_watch. A program started by hand has no watching
 * process: when a signal is about to end it, a forked copy reports. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_WATCH_STATE_H
#define LOCKSTEP_SIM_WATCH_STATE_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/tally.h"

/* Frames of a backtrace, at most. */
#define DIST__SIM_FRAMES 32
/* Bytes kept of a replay token, its 0 included. */
#define DIST__SIM_TOKEN_SIZE 512

enum dist__sim_phase {
	DIST__SIM_IDLE, /* no simulation, or all is reported */
	DIST__SIM_BUSY  /* if the process dies, that is to be reported */
};

/* Where the running rank program was when it was asked. */
enum dist__sim_spot {
	DIST__SIM_NOWHERE, /* not asked */
	DIST__SIM_PROGRAM, /* in the rank's own code */
	DIST__SIM_CALL,    /* in a call, waiting */
	DIST__SIM_ENGINE   /* in no rank: the engine runs */
};

/* State of the simulating process, written by it where nothing else is said. */
struct dist__sim_watch {
	uint64_t magic;
	pid_t watcher; /* 0: no process watches */
	pid_t process;
	uint32_t ends;   /* the watcher's: ends it, once its trace is written */
	uint32_t phase;  /* enum dist__sim_phase */
	int32_t verdict; /* exit status of the one that was reported last */
	int32_t running; /* the rank whose program ran last */
	uint64_t steps;  /* counts steps of the clock and of ranks */
	int64_t now_ns;  /* simulated time */
	int64_t timeout_ns;
	uint64_t stack_bytes; /* of every rank */
	uint64_t kills;       /* check_kills_for_memory() when it began */
	struct dist__tally tally;
	char token[DIST__SIM_TOKEN_SIZE]; /* "": none */

	/* Written by the signal handler; the number last. */
	uint32_t spot; /* enum dist__sim_spot */
	int32_t rank;
	uint32_t overflow; /* its stack overflowed */
	int32_t sender;    /* process that sent the signal; 0: a fault, or
			      this process did */
	int32_t number;    /* of the signal; 0: none */
	uintptr_t frames[DIST__SIM_FRAMES];
};

/* Offset of the records in the shared memory. */
#define DIST__SIM_RECORDS 4096
/* The signal that asks the process where it is; ignored by default. */
#define DIST__SIM_LOOK_SIGNAL SIGURG
/* The variable with the descriptor of the shared memory. */
#define DIST__SIM_WATCH_VARIABLE "LOCKSTEP_WATCH_FD"
#define DIST__SIM_WATCH_MAGIC    UINT64_C(0x6c6f636b77617463)

_Static_assert(sizeof(struct dist__sim_watch) <= DIST__SIM_RECORDS,
	       "the records begin behind it");

#endif
