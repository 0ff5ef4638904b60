/*
 * sweep.h - one collective over a range of sizes, timed and checked like
 * nccl-tests, as a rank function; used by the programs all_reduce, broadcast
 * and reduce, and by `lockstep bench`.
 *
 * A sample is the time from the barrier before a call, or a sequence of calls,
 * to the return of a rank, divided by the number of calls; of the slowest rank,
 * if no other is chosen.
 */
#ifndef LOCKSTEP_SCENARIOS_SWEEP_H
#define LOCKSTEP_SCENARIOS_SWEEP_H

#include <stdio.h>

#include "lockstep/dist.h"
#include "model/measured/collectives.h"
#include "scenarios/arguments.h"

/* The rank whose time is a sample, with nccl-tests' numbers. */
enum sweep_average {
	SWEEP_FIRST_RANK,
	SWEEP_ALL_RANKS, /* average */
	SWEEP_FASTEST_RANK,
	SWEEP_SLOWEST_RANK
};

/* One size of the sweep. Times in microseconds, rates in 10^9 bytes/s. */
struct sweep_row {
	size_t bytes;
	size_t numel;   /* of the tensor, or of each part */
	double time_us; /* median over the iterations */
	double min_us;
	double low_quartile_us;
	double high_quartile_us;
	double max_us;
	double algbw_GBps;
	double busbw_GBps;
	int64_t wrong; /* wrong elements over all ranks; -1: not checked */
};

/* The argument of the rank function. Simulated ranks share it, so it is
 * constant. */
struct sweep {
	enum collective collective;

	/* The flags, nccl-tests'; until sweep_complete() INT_MIN: not given. */
	size_t min_bytes;
	size_t max_bytes;
	size_t step_bytes; /* from one size to the next; 0: use factor */
	double factor;     /* above 1 */
	int iterations;
	int calls; /* calls of an iteration, one after the other */
	int warmup;
	int average;  /* enum sweep_average */
	int cold;     /* the caches are emptied before every iteration */
	int together; /* every iteration starts at the same instant of a clock
			 that the ranks share */
	int check;    /* real data, compared with the known result */
	const char *dtype_name;
	const char *op_name; /* NULL: sum */
	int root;

	enum dist_dtype dtype;
	enum dist_reduce_op op;
	FILE *out;  /* rank 0 prints the table here; NULL: no table */
	FILE *rows; /* rank 0 writes every struct sweep_row here; NULL: none */
};

/* sweep_rank runs the sweep on one rank; arg is a struct sweep. Returns 0, or
 * 1 after an error or a wrong element. */
int sweep_rank(void *arg);

/* All names, for messages. */
#define SWEEP_NAMES                                                            \
	"all_reduce, broadcast, reduce, all_gather, reduce_scatter, "          \
	"alltoall, "                                                           \
	"gather, scatter or sendrecv"

/* sweep_find returns the collective named name, with or without underscores and
 * nccl-tests' "_perf", -1 if there is none. */
int sweep_find(const char *name);

/* sweep_name returns "all_reduce" and so on, as nccl-tests has it. */
const char *sweep_name(enum collective collective);

/* sweep_reduces and sweep_is_in_place return whether the collective has a
 * reduce op, one buffer for both sides. */
bool sweep_reduces(enum collective collective);
bool sweep_is_in_place(enum collective collective);

/* sweep_print_header writes the lines before the table. */
void sweep_print_header(FILE *out, const struct sweep *sweep, int world_size,
			const char *backend);

/* sweep_print_row writes one line of the table. */
void sweep_print_row(FILE *out, const struct sweep *sweep,
		     const struct sweep_row *row);

/* The flags, each a field of struct sweep. */
extern const struct option sweep_options[];

/* sweep_init sets the flags' defaults. */
void sweep_init(struct sweep *sweep);

/* sweep_complete checks the flags for sweep->collective, and completes them for
 * simulated or real ranks. Returns false with message if they are invalid. */
bool sweep_complete(struct sweep *sweep, bool simulated,
		    struct dist_message *message);

#endif
