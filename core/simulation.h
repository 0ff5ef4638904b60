/*
 * simulation.h - the part of a transport that only a simulated world has: local
 * work is charged, and a collective without data can be timed as a whole.
 */
#ifndef LOCKSTEP_CORE_SIMULATION_H
#define LOCKSTEP_CORE_SIMULATION_H

#include "core/flow.h"

struct dist__lane;
struct dist__transport;

/* Called by coll, on the transport that has them. */
struct dist__simulation_ops {
	/*
	 * Charges the local reduction of bytes (the length of one input), on
	 * the thread that did it.
	 */
	void (*charge_reduce)(struct dist__transport *t, size_t bytes);

	/* Charges likewise a copy of bytes within the rank's memory by an
	 * algorithm of op (NULL: not known), in addition to messages. */
	void (*charge_copy)(struct dist__transport *t,
			    const struct dist__op *op, size_t bytes);

	/* Returns a pointer, NULL at first, that the members' ranks share under
	 * key: to memory that the transport will free. NULL: no memory.
	 */
	void **(*shared)(struct dist__transport *t,
			 const struct dist__members *members, int key);

	/*
	 * Returns whether the transport runs a collective without data as this
	 * flow of the members, as a whole or message by message, instead of
	 * the algorithm. The same on every rank. NULL: never, and the slots
	 * below are NULL.
	 */
	bool (*has_flow)(struct dist__transport *t,
			 const struct dist__flow *flow,
			 const struct dist__members *members);

	/* Notes that the calling rank is about to run a collective without data
	 * message by message: this flow of the members, or one without a
	 * timetable (flow->ops NULL). Any thread. */
	void (*by_messages)(struct dist__transport *t,
			    const struct dist__flow *flow,
			    const struct dist__members *members);

	/*
	 * Joins the flow of seat. It starts when all members have joined; the
	 * call never blocks. A rank joins the flows of one (group, members) one
	 * after the other. The transport owns seat until the flow is over. Any
	 * thread. Errors (the rank has not joined): ABORTED, PEER_LOST,
	 * MISMATCH (ranks that joined before fail too), NO_MEMORY, DEADLOCK.
	 */
	enum dist_error (*flow_join)(struct dist__transport *t,
				     struct dist__flow_seat *seat);

	/*
	 * Blocks until a joined flow is over, or the clock passes deadline_ns;
	 * the transport does not use seat afterwards. Errors: as flow_join;
	 * TIMEOUT.
	 */
	enum dist_error (*flow_wait)(struct dist__transport *t,
				     struct dist__flow_seat *seat,
				     int64_t deadline_ns);

	/*
	 * Returns whether op is a round: one that the world ends by itself once
	 * all members have come, without messages. The same on every rank.
	 */
	bool (*is_round)(struct dist__transport *t,
			 const struct dist__members *members,
			 const struct dist__op *op);

	/* Comes to the round of op, which op->private is until it is left;
	 * never blocks. Any actor. Errors: NO_MEMORY. */
	enum dist_error (*round_come)(struct dist__transport *t,
				      const struct dist__members *members,
				      struct dist__op *op);

	/* Returns whether round_wait() would return at once. */
	bool (*round_over)(struct dist__transport *t, const struct dist__op *op,
			   int64_t deadline_ns);

	/* Blocks until the round is over, or the clock passes deadline_ns. The
	 * round may be left meanwhile. Errors: as flow_join; TIMEOUT. */
	enum dist_error (*round_wait)(struct dist__transport *t,
				      const struct dist__op *op,
				      int64_t deadline_ns);

	/* Leaves the round, with the error of the wait. Stores the result, and
	 * in op when it started and ended, and by which algorithm. Errors: that
	 * error; NO_MEMORY, IO (the ranks that stand for others differ). */
	enum dist_error (*round_leave)(struct dist__transport *t,
				       const struct dist__members *members,
				       struct dist__op *op,
				       enum dist_error error);

	/* The flow of the running job is over; the lane may start its next job.
	 * Called once, by the seat's over(). */
	void (*lane_over)(struct dist__lane *lane);
};

#endif
