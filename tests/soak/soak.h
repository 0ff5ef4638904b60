/*
 * soak.h - all-reduces drawn by lot, over real TCP, while faults are done to
 * their ranks: what is drawn, what a rank tells of it, what came of it.
 *
 * One case is one world of processes. What it does follows from its seed alone;
 * when things happen in it does not.
 */
#ifndef LOCKSTEP_TESTS_SOAK_H
#define LOCKSTEP_TESTS_SOAK_H

#include <stdatomic.h>
#include <sys/types.h>

#include "lockstep/dist.h"

#define SOAK_MOST_RANKS 8
#define SOAK_MOST_CALLS 6
#define SOAK_MS         INT64_C(1000000)
#define SOAK_SECOND     (1000 * SOAK_MS)

/* What is done to one rank, the victim. */
enum soak_fault {
	SOAK_NOTHING,
	SOAK_STALL,        /* stopped for a while */
	SOAK_RESET,        /* a connection of it is reset */
	SOAK_SHUT_SEND,    /* a connection is closed one way */
	SOAK_SHUT_RECEIVE, /* the other way */
	SOAK_KILL,
	SOAK_SILENCE /* stopped for good */
};

/* One all-reduce. */
struct soak_call {
	uint64_t seed; /* of what the ranks put in */
	enum dist_dtype dtype;
	enum dist_reduce_op op;
	size_t numel;
	bool async;                       /* waited for after all calls */
	int64_t late_ns[SOAK_MOST_RANKS]; /* what each rank does before it */
};

struct soak_case {
	uint64_t seed;
	int world_size;
	const char *intra; /* "shm" or "tcp" */
	enum soak_fault fault;
	int victim;
	bool early;       /* counted from the start, not from the meeting */
	int64_t after_ns; /* when the fault comes */
	int64_t stall_ns; /* STALL: how long */
	unsigned which;   /* of the victim's connections, modulo their number */
	int64_t meet_ns;  /* time limit of the meeting */
	int64_t timeout_ns; /* time limit of a call */
	int num_calls;
	struct soak_call calls[SOAK_MOST_CALLS];
};

/* What a rank tells, in memory that it shares with who started it. */
struct soak_report {
	atomic_bool joined;
	atomic_bool over; /* told to it: the fault is done, it may leave */
	int num_ended;    /* calls */
	enum dist_error ends[SOAK_MOST_CALLS]; /* of those */
	enum dist_error meeting;
	char why[200];   /* the meeting failed */
	char wrong[200]; /* the first thing that must not be; "": nothing */
};

/* What came of a number of cases: the calls of all their ranks. */
struct soak_counts {
	atomic_long cases, failed;
	atomic_long ends[-DIST_ERR_HAZARD + 1]; /* calls, by -error; 0: right */
	atomic_long apart[-DIST_ERR_HAZARD + 1]; /* ranks that did not meet */
};

/* ---- case.c -------------------------------------------------------------- */

/* soak_draw makes the case of a seed. */
struct soak_case soak_draw(uint64_t seed);

/* soak_describe puts a case in words, one line. */
void soak_describe(const struct soak_case *c, char *text, size_t size);

/* soak_is_harmless returns whether every call must end well in spite of the
 * fault. */
bool soak_is_harmless(enum soak_fault fault);

/* ---- arithmetic.c -------------------------------------------------------- */

/* soak_factor returns what PREMUL_SUM multiplies by on rank. */
double soak_factor(const struct soak_call *call, int rank);

/* soak_fill writes what rank puts into call: numel elements at data. */
void soak_fill(const struct soak_call *call, int rank, void *data);

/* soak_first_wrong returns the first of the numel elements at data that is not
 * what the ranks' elements combine to; numel: all are. */
size_t soak_first_wrong(const struct soak_call *call, int world_size,
			const void *data);

/* ---- rank.c -------------------------------------------------------------- */

/* soak_rank is the program of one rank; returns 0. */
int soak_rank(const struct soak_case *c, int rank, struct soak_report *report);

/* ---- fault.c ------------------------------------------------------------- */

/* soak_arm makes the ranks that this process starts from now on ready for the
 * case's fault. false: the system refuses. */
bool soak_arm(const struct soak_case *c);

/* soak_strike does the case's fault to the victim, a process that soak_arm()
 * made ready and that has not been waited for. */
void soak_strike(const struct soak_case *c, pid_t victim);

/* soak_pause sleeps. */
void soak_pause(int64_t ns);

/* ---- run.c --------------------------------------------------------------- */

/* soak_run runs a case, adds it to counts, and says on stdout what it found
 * wrong. */
void soak_run(const struct soak_case *c, struct soak_counts *counts);

#endif
