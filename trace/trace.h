/*
 * trace.h - a trace in memory: the calls and compute spans of all ranks.
 */
#ifndef LOCKSTEP_TRACE_TRACE_H
#define LOCKSTEP_TRACE_TRACE_H

#include "lockstep/dist.h"

/* A setting or input of the run: "platform", "profile", ... */
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
	uint32_t seq;      /* collectives: 0, 1, ... of these; p2p: same */
	const char *dtype; /* "float32", ...; or another program's name */
	const char *reduce_op;
	int64_t numel;
	int64_t bytes;
	int root; /* group rank; -1: none */
	int peer; /* global rank of the other end of a message; -1: none */
	int tag;  /* -1: none */
	const char *algorithm;
	const char *link; /* that slowed it down; NULL: none, or not known */
	int64_t issued_ns;
	int64_t started_ns;
	int64_t ended_ns;
	const char *file;
	int line;
	const char *error; /* message, if the call failed */
	int thread;        /* within its rank's process in the trace */
};

/* A compute span, or a remote call. */
struct dist__trace_span {
	int rank;
	const char *label; /* of a call: its function, or "to_here" */
	int64_t started_ns;
	int64_t ended_ns;
	bool failed; /* of a call */
};

/* Who is in a group; known from torch.profiler only. */
struct dist__trace_group {
	const char *name;
	int *ranks; /* global, in the group's order */
	size_t num_ranks;
};

struct dist__trace {
	char path[256];
	const char *backend;      /* NULL: not known */
	int world_size;           /* 0: not known */
	const char *gpu;          /* by the driver's name; NULL: not known */
	const char *nccl_version; /* NULL: not known */
	bool issue_times; /* of calls: when the host issued them, not when they
			     were done */
	struct dist__trace_fact *facts;
	size_t num_facts;
	int *ranks; /* in the trace, ascending */
	size_t num_ranks;
	struct dist__trace_group *groups;
	size_t num_groups;
	struct dist__trace_call *calls; /* by rank, then as issued */
	size_t num_calls;
	struct dist__trace_span *spans; /* by rank, then as started */
	size_t num_spans;
	struct dist__trace_span *remote; /* remote calls, in the same order */
	size_t num_remote;
	void *strings; /* owns all strings */
};

/* dist__trace_release frees what trace owns. */
void dist__trace_release(struct dist__trace *trace);

/* dist__trace_intern returns a copy of text that lives as long as trace, one
 * for each text. NULL: text is NULL, or no memory. */
const char *dist__trace_intern(struct dist__trace *trace, const char *text);

/* dist__trace_fact returns the value of fact key, NULL if it is not known. */
const char *dist__trace_fact(const struct dist__trace *trace, const char *key);

/* dist__trace_is_p2p returns whether call is a message, not a collective. */
bool dist__trace_is_p2p(const struct dist__trace_call *call);

/* dist__trace_describe writes the call as in a program, with its source line:
 * "all_reduce(float32 x 1024, sum) at train.c:12". */
void dist__trace_describe(const struct dist__trace_call *call, char *text,
			  size_t size);

/* dist__trace_sorted_calls returns pointers to the calls, sorted by compare as
 * by qsort (compare gets pointers to pointers); the caller frees the array.
 * NULL: no memory. */
const struct dist__trace_call **
dist__trace_sorted_calls(const struct dist__trace *trace,
			 int (*compare)(const void *, const void *));

/* dist__trace_by_collective, for dist__trace_sorted_calls: the collectives of a
 * group in order, each one's ranks side by side; messages after them, each
 * alone. */
int dist__trace_by_collective(const void *a, const void *b);

/* dist__trace_same_collective returns whether two calls are those of two ranks
 * to one collective. */
bool dist__trace_same_collective(const struct dist__trace_call *a,
				 const struct dist__trace_call *b);

/* dist__trace_same_call returns whether they are, also by op and size: ranks
 * whose profiles do not begin with the same call count differently. */
bool dist__trace_same_call(const struct dist__trace_call *a,
			   const struct dist__trace_call *b);

/* dist__trace_order sorts ranks, calls and spans (calls issued at one time by
 * their field order) and sets order and seq. Errors: NO_MEMORY. */
enum dist_error dist__trace_order(struct dist__trace *trace);

/*
 * dist__trace_align brings the clocks of ranks, which profilers of several
 * hosts do not share, to that of the lowest rank. trace is in order. Two ranks
 * are set so that the collectives in which all wait for all end at one time on
 * both: by the median over these. Ranks without a collective in common with
 * those that are set keep their clock. Errors: NO_MEMORY.
 */
enum dist_error dist__trace_align(struct dist__trace *trace);

/* dist__trace_from_zero makes the times of trace relative to its first event.
 */
void dist__trace_from_zero(struct dist__trace *trace);

#endif
