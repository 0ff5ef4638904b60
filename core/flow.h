/*
 * flow.h - a collective as a timetable of its messages, for a world that times
 * it as a whole instead of passing them one by one. No rank of it can be
 * through before all have come.
 *
 * All ranks of the group go through the same steps. In a step a rank sends one
 * message at most and receives one at most, both at the same time; it goes on
 * to the next when both are through and it has reduced what came.
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

/* Of an algorithm. All is known of a flow but steps and timetable before open,
 * which is called once for all ranks. */
struct dist__flow_ops {
	/* Only for ranks that are a power of two, and parts of one length. */
	bool halves;

	/* Sets steps, and timetable if it needs one. Errors: NO_MEMORY;
	 * UNAVAILABLE (a rank may be through before others come). */
	enum dist_error (*open)(struct dist__flow *flow);

	struct dist__hop (*hop)(const struct dist__flow *flow, int rank,
				int step);

	/* Returns from whom a rank receives in a step; -1: from nobody. NULL:
	 * from whom it sends to. */
	int (*from)(const struct dist__flow *flow, int rank, int step);

	/* Returns the first step that is like step: all ranks send as much to
	 * the same ones, give or take an element. It may be step itself. */
	int (*like)(const struct dist__flow *flow, int step);

	/* Frees what open made, also after its error. NULL: nothing. */
	void (*close)(struct dist__flow *flow);
};

struct dist__flow {
	const struct dist__flow_ops *ops;
	enum dist__op_kind kind; /* of the collective */
	int world_size;
	int root; /* -1: none */
	/* Of the vector, or of all parts, each taken to be as long as the
	 * longest. */
	size_t numel;
	size_t element_bytes;
	size_t segment_bytes; /* what a pipeline sends at a time, at most */
	bool is_exact; /* all parts are as long: hop() is to count each element
			* of a vector that its ranks do not divide */
	bool is_own;   /* each rank knows its own parts only: hop() says to
			* whom, the seats how much */
	int steps;
	void *timetable; /* the algorithm's */
};

/* One rank's part in a flow. */
struct dist__flow_seat {
	struct dist__flow flow; /* not open; the same on every rank */
	const struct dist__members *members; /* borrowed until it is over */
	uint32_t seq;                        /* of the collective */
	uint64_t fingerprint;
	/* Of an all-to-all, and borrowed likewise: what the rank has for each
	 * other one, and of each; NULL: hop() says how much. */
	const struct dist__sides *sides;
	/* What the rank passes over once more when all has come. */
	size_t last_pass_bytes;

	/* Called once when the rank is through, or the flow has failed, on any
	 * actor; it must not block. NULL: flow_wait() is called. */
	void (*over)(struct dist__flow_seat *seat, enum dist_error error);

	/* The transport's. */
	struct dist__flow_meeting *meeting; /* NULL: not in one */
	void *waiter;
	bool is_over;
	enum dist_error error;
};

#endif
