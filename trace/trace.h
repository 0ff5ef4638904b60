/*
 * trace.h - a trace in memory: the calls and compute spans of all ranks.
 */
#ifndef LOCKSTEP_TRACE_TRACE_H
#define LOCKSTEP_TRACE_TRACE_H

#include "lockstep/dist.h"

/* What the run stood on: "platform", "profile", ... */
struct dist__trace_fact {
	const char *key;
	const char *value;
};

/*
 * One operation of one rank. All strings belong to the trace; NULL: not known.
 * Times are relative to the start of the trace.
 */
struct dist__trace_call {
	int rank;          /* global */
	const char *group; /* name of the group */
	int group_size;
	const char *op;    /* "all_reduce", "recv", ... */
	uint32_t order;    /* 0, 1, ... among the rank's calls on the group */
	uint32_t seq;      /* collectives: 0, 1, ... among those; p2p: same */
	const char *dtype; /* "float32", ...; another's own word */
	const char *reduce_op;
	int64_t numel;
	int64_t bytes;
	int root; /* group rank; -1: none */
	int peer; /* global rank of the other end of a message; -1: none */
	int tag;  /* -1: none */
	const char *algorithm;
	const char *link; /* that held it up; NULL: none, or not known */
	int64_t issued_ns;
	int64_t started_ns;
	int64_t ended_ns;
	const char *file;
	int line;
	const char *error; /* words, when the call failed */
	int thread;        /* of its rank's process in the trace */
};

/* Time that one rank spent computing, or that a remote call took it. */
struct dist__trace_span {
	int rank;
	const char *label; /* a call's is its function, or "to_here" */
	int64_t started_ns;
	int64_t ended_ns;
	bool failed; /* the call */
};

struct dist__trace {
	char path[256];
	const char *backend; /* NULL: not known */
	int world_size;      /* 0: not known */
	struct dist__trace_fact *facts;
	size_t num_facts;
	int *ranks; /* those the trace knows, rising */
	size_t num_ranks;
	struct dist__trace_call *calls; /* by rank, then as issued */
	size_t num_calls;
	struct dist__trace_span *spans; /* by rank, then as started */
	size_t num_spans;
	struct dist__trace_span *remote; /* calls, in the same order */
	size_t num_remote;
	void *strings; /* owner of all strings */
};

/* dist__trace_release frees what trace holds. */
void dist__trace_release(struct dist__trace *trace);

/* dist__trace_intern returns the one copy of text that lives as long as trace.
 * NULL: text is NULL, or no memory. */
const char *dist__trace_intern(struct dist__trace *trace, const char *text);

/* dist__trace_fact returns the value of fact key, NULL if it is not known. */
const char *dist__trace_fact(const struct dist__trace *trace, const char *key);

/* dist__trace_is_p2p returns whether call is a message and no collective. */
bool dist__trace_is_p2p(const struct dist__trace_call *call);

/* dist__trace_describe writes the call as a program would, with its place in
 * the source: "all_reduce(float32 x 1024, sum) at train.c:12". */
void dist__trace_describe(const struct dist__trace_call *call, char *text,
			  size_t size);

/* dist__trace_sorted_calls returns pointers to the calls, sorted by compare as
 * qsort takes it (it is given pointers to pointers); the caller frees the
 * array. NULL: no memory. */
const struct dist__trace_call **
dist__trace_sorted_calls(const struct dist__trace *trace,
			 int (*compare)(const void *, const void *));

/* dist__trace_order brings ranks, calls and spans into their order (calls
 * issued at one time keep that of their field order) and counts order and seq.
 * Errors: NO_MEMORY. */
enum dist_error dist__trace_order(struct dist__trace *trace);

#endif
