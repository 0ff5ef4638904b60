/*
 * simulation.h - what only a simulated world has: work takes no time there by
 * itself, and a collective without data can be timed as a whole.
 */
#ifndef LOCKSTEP_CORE_SIMULATION_H
#define LOCKSTEP_CORE_SIMULATION_H

#include "core/flow.h"

struct dist__lane;
struct dist__transport;

/* Called by coll, on the transport that has it. */
struct dist__simulation_ops {
	/*
	 * Accounts for the local reduction of bytes (the length of one input),
	 * in the thread that did it.
	 */
	void (*charge_reduce)(struct dist__transport *t, size_t bytes);

	/* Accounts likewise for bytes that an algorithm of op (NULL: not known)
	 * has copied from the rank's memory to other memory of it, beside its
	 * messages. */
	void (*charge_copy)(struct dist__transport *t,
			    const struct dist__op *op, size_t bytes);

	/* Returns a place, NULL at first, for what the members' ranks have in
	 * common under key: memory that the transport frees. NULL: no memory.
	 */
	void **(*shared)(struct dist__transport *t,
			 const struct dist__members *members, int key);

	/*
	 * Returns whether the transport takes on a collective without data as
	 * this flow of the members, be it as a whole or message by message,
	 * rather than have it run; the same on every rank. NULL: never, and no
	 * slot below is there.
	 */
	bool (*has_flow)(struct dist__transport *t,
			 const struct dist__flow *flow,
			 const struct dist__members *members);

	/* Notes that the calling rank is about to run a collective without
	 * data, message by message: this flow of the members, or one without a
	 * timetable (flow->ops NULL). Any thread. */
	void (*by_messages)(struct dist__transport *t,
			    const struct dist__flow *flow,
			    const struct dist__members *members);

	/*
	 * Joins the flow that seat is a part of. It starts when all members
	 * have, and never blocks. A rank joins the flows of one (group,
	 * members) one after the other. seat is the transport's until it is
	 * over. Any thread. Errors, then it has not joined: ABORTED, PEER_LOST,
	 * MISMATCH (those that came before fail too), NO_MEMORY, DEADLOCK.
	 */
	enum dist_error (*flow_join)(struct dist__transport *t,
				     struct dist__flow_seat *seat);

	/*
	 * Blocks until a flow that was joined is over, or the clock passes
	 * deadline_ns; the transport has done with seat either way. Errors: as
	 * flow_join; TIMEOUT.
	 */
	enum dist_error (*flow_wait)(struct dist__transport *t,
				     struct dist__flow_seat *seat,
				     int64_t deadline_ns);

	/*
	 * Does op, a barrier, all_reduce or reduce, in no time and without
	 * messages: blocks until all members have come, and combines what they
	 * brought. Any actor. Errors: as flow_join; TIMEOUT.
	 */
	enum dist_error (*hand_over)(struct dist__transport *t,
				     const struct dist__members *members,
				     struct dist__op *op);

	/* The flow of the job that runs is over; the next may start. From the
	 * seat's over(), once. */
	void (*lane_over)(struct dist__lane *lane);
};

#endif
