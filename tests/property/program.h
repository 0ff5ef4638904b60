/*
 * program.h - rank programs drawn by lot, right ones and wrong ones.
 *
 * A program is a list of calls for each rank. It is drawn as steps that all
 * ranks take in one order, each with whoever is in it, so that it is right
 * whatever a send waits for: collectives of all kinds in the default group and
 * in others, messages, loops, each call blocking or waited for later, each rank
 * as it is drawn. Then one rank may get a fault. Equal seeds give equal
 * programs.
 */
#ifndef LOCKSTEP_TESTS_PROPERTY_PROGRAM_H
#define LOCKSTEP_TESTS_PROPERTY_PROGRAM_H

#include <stdio.h>

#include "lockstep/dist.h"
#include "tests/support/forked.h"

#define MOST_RANKS  8
#define MOST_GROUPS 4
#define MOST_STEPS  120
#define MOST_CALLS  (2 * MOST_STEPS + 8) /* of a rank: each, and its wait */

/* What stands in a report as the source of the ranks. */
#define PROGRAM_FILE "program.c"

enum act {
	ACT_ALL_REDUCE,
	ACT_REDUCE,
	ACT_BROADCAST,
	ACT_BARRIER,
	ACT_ALL_GATHER,
	ACT_REDUCE_SCATTER,
	ACT_ALL_TO_ALL,
	ACT_GATHER,
	ACT_SCATTER,
	ACT_NEW_GROUP, /* number `made`, on the default group */
	ACT_SEND,
	ACT_RECV,
	ACT_WAIT,    /* for the call of the same step */
	ACT_COMPUTE, /* for duration_ns */
	ACT_EXIT     /* with status; the rank's last */
};

struct call {
	enum act act;
	int step; /* numbers the calls of one rank that wait for each other */
	int line;
	int group;
	int made;         /* ACT_NEW_GROUP: number of the group, */
	unsigned members; /* and who is in it, by bits */
	enum dist_dtype dtype;
	size_t numel;
	enum dist_reduce_op reduce_op;
	int peer; /* root, src or dst, as global rank; -1: none */
	int tag;
	bool async;
	int64_t duration_ns;
	int status;
};

struct rank_program {
	struct call calls[MOST_CALLS];
	int num_calls;
};

struct program {
	uint64_t seed;
	int world_size;
	int num_groups; /* with the default group, number 0 */
	unsigned members[MOST_GROUPS];
	struct rank_program ranks[MOST_RANKS];
};

enum fault_kind {
	FAULT_SKIP,   /* a call is left out */
	FAULT_EXTRA,  /* a call is made once more */
	FAULT_SWAP,   /* two calls change places */
	FAULT_KIND,   /* another collective */
	FAULT_COUNT,  /* another number of elements */
	FAULT_DTYPE,  /* another type */
	FAULT_REDUCE, /* another reduce op */
	FAULT_ROOT,   /* another root */
	FAULT_TAG,    /* another tag */
	FAULT_PEER,   /* another peer */
	FAULT_GROUP,  /* on another group */
	FAULT_LIST,   /* another list of members */
	FAULT_LEAVE,  /* the rank returns early, with 0 */
	FAULT_FAIL,   /* the rank returns early, with 1 */
	FAULT_LATE,   /* the rank comes after the deadline */
	FAULT_KINDS
};

struct fault {
	enum fault_kind kind;
	int rank;
	int line;       /* of the call that is wrong, or missing */
	int other_line; /* where the others are instead, if that is known */
};

/* The deadline of every simulated program. */
#define PROGRAM_TIMEOUT_NS ((int64_t)1000000000)

/* program_draw draws a right one. */
void program_draw(struct program *program, uint64_t seed);

/* program_spoil gives program a fault of that kind; false: no rank does
 * anything that could go wrong that way. */
bool program_spoil(struct program *program, enum fault_kind kind,
		   struct fault *fault);

/* program_print writes the program down, a line a call. */
void program_print(FILE *out, const struct program *program);

const char *fault_name(enum fault_kind kind);
const char *act_name(enum act act);

/* program_lot draws one of 0 to n - 1. */
int program_lot(uint64_t *state, int n);

/* program_has_root returns whether a collective has one. */
bool program_has_root(enum act act);
bool program_reduces(enum act act);

static inline bool program_is_message(enum act act)
{
	return act == ACT_SEND || act == ACT_RECV;
}

/* program_is_op returns whether act is a call that others take part in. */
static inline bool program_is_op(enum act act)
{
	return act <= ACT_RECV;
}

/* ---- oracle.c: what must come of it ----------------------------------- */

enum outcome {
	OUTCOME_FINE,
	OUTCOME_FAILED, /* a rank returned 1 that nobody waits for */
	OUTCOME_MISMATCH,
	OUTCOME_DEADLOCK,
	OUTCOME_TIMEOUT,
	OUTCOME_LOST
};

/* What a program leads to. */
struct ending {
	enum outcome outcome;
	int line, other_line;   /* of the first mismatch; or 0 */
	int stands[MOST_RANKS]; /* the line that keeps each rank; 0: none */
};

/* The ending if collectives keep everybody until all are there, and if they let
 * go whoever need not wait. It is the one or the other, by the algorithms. */
struct forecast {
	struct ending strict, loose;
};

struct forecast program_forecast(const struct program *program, bool buffered);

/* ---- run.c: what comes of it ------------------------------------------ */

/* program_run runs it in a process of its own; a call may take timeout_ns. */
void program_run(const struct program *program, const char *backend,
		 const char *p2p, int64_t timeout_ns, struct forked *run);

#endif
