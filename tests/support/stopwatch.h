/*
 * stopwatch.h - a rank program that times one collective at several sizes, for
 * tests that hold times against each other.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_STOPWATCH_H
#define LOCKSTEP_TESTS_SUPPORT_STOPWATCH_H

#include "tests/support/phantom_call.h"

#define STOPWATCH_SIZES 7
#define STOPWATCH_RANKS PHANTOM_RANKS /* at most */

/* Elements of the tensor, or for each rank where the collective has parts. */
extern const size_t stopwatch_sizes[STOPWATCH_SIZES];

/* Times of one collective, shared between the simulated ranks. */
struct stopwatch {
	enum dist__op_kind kind;
	int64_t start_ns[STOPWATCH_SIZES]; /* of all ranks */
	int64_t end_ns[STOPWATCH_SIZES];   /* the latest of all ranks */
};

/* stopwatch_rank is the rank program; arg is the stopwatch. */
int stopwatch_rank(void *arg);

#endif
