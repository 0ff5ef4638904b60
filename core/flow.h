/*
 * flow.h - a collective as a timetable of its messages, for a world that times
 * it as a whole instead of passing messages one by one. No rank can complete it
 * before all have joined.
 *
 * All ranks of the group take the same steps. In a step a rank sends at most
 * one message and receives at most one, both at the same time. It begins the
 * next step when both are complete and it has reduced what it received.
 */
#ifndef LOCKSTEP_CORE_FLOW_H
#define LOCKSTEP_CORE_FLOW_H

#include "core/op.h"

struct dist__members;
struct dist__flow;

/* What a rank sends in one step. */
struct dist__hop {
	int to; /* group rank; -1: nobody */
	size_t bytes;
	bool reduced; /* by the receiver, before its next step */
};

/* Of an algorithm. Before open, called once for all ranks, every field of a
 * flow except steps and timetable is set. */
struct dist__flow_ops {
	/* Only for a power of two of ranks, and parts of equal length. */
	bool halves;

	/* Sets steps, and timetable if needed. Errors: NO_MEMORY; UNAVAILABLE
	 * (a rank may complete it before others join). */
	enum dist_error (*open)(struct dist__flow *flow);

	struct dist__hop (*hop)(const struct dist__flow *flow, int rank,
				int step);

	/* Returns the rank that a rank receives from in a step; -1: none.
	 * NULL: the rank that it sends to. */
	int (*from)(const struct dist__flow *flow, int rank, int step);

	/* Returns the first step like this one: all ranks send the same bytes,
	 * within one element, to the same ranks. It may be step itself. NULL:
	 * no step is like another. */
	int (*like)(const struct dist__flow *flow, int step);

	/* Frees what open made, also after its error. NULL: nothing. */
	void (*close)(struct dist__flow *flow);
};

struct dist__flow {
	const struct dist__flow_ops *ops;
	enum dist__op_kind kind; /* of the collective */
	int world_size;
	int root; /* -1: none */
	/* Of the vector, or of all parts, each counted as long as the longest.
	 */
	size_t numel;
	size_t element_bytes;
	size_t segment_bytes; /* a pipeline's longest message */
	bool is_exact; /* all parts are equally long: hop() must count each
			* element of a vector that the ranks do not divide */
	bool is_own;   /* a rank knows only its own parts: hop() gives the
			* receiver, the seats give the bytes */
	int steps;
	void *timetable; /* the algorithm's */
};

/* dist__flow_like returns the first step like this one. */
static inline int dist__flow_like(const struct dist__flow *flow, int step)
{
	return flow->ops->like ? flow->ops->like(flow, step) : step;
}

/* One rank's part in a flow. */
struct dist__flow_seat {
	struct dist__flow flow; /* not open; the same on every rank */
	const struct dist__members *members; /* borrowed until the end */
	uint32_t seq;                        /* of the collective */
	uint64_t fingerprint;
	/* All-to-all: the parts that the rank sends to and receives from each
	 * rank; borrowed until the end. NULL: hop() gives the bytes. */
	const struct dist__sides *sides;
	/* Bytes that the rank passes over once more at the end. */
	size_t last_pass_bytes;

	/* Called once, on any actor, when the rank's part is complete or the
	 * flow has failed; must not block. NULL: flow_wait() is called. */
	void (*over)(struct dist__flow_seat *seat, enum dist_error error);

	/* The transport's. */
	struct dist__flow_meeting *meeting; /* NULL: not in one */
	void *waiter;
	bool is_over;
	enum dist_error error;
};

#endif
