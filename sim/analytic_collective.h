/*
 * analytic_collective.h - collectives without simulated messages. Each rank
 * waits for the last rank of the group, and then for the time that the
 * profile's library takes: at formula, on links of its own; at flow, on the
 * platform's links, which its transfers (traffic.h) share with all other
 * traffic. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_ANALYTIC_COLLECTIVE_H
#define LOCKSTEP_SIM_ANALYTIC_COLLECTIVE_H

#include "sim/stand_in.h"
#include "sim/traffic.h"
#include "sim/world.h"

struct dist__sim_waiter;

/* One collective. */
struct dist__sim_round {
	struct dist__sim_analytic *meeting;
	struct dist__sim_round *next; /* in the order of their beginning */
	uint32_t seq;
	uint64_t fingerprint;
	int came; /* ranks */
	int held; /* references: it is not freed before they are dropped */
	/* The largest input of a rank, and the largest part of the result. */
	size_t numel, result_numel;
	void *sum; /* of the inputs so far, owned; NULL: no data, or not
		      combined here */
	struct dist__sim_brought *brought; /* where ranks stand for others */
	struct dist__sim_waiter *waiters;

	/* At flow, once all ranks have come: */
	struct dist__sim_round *behind; /* the next in turn; NULL: none */
	bool begun;
	struct dist__sim_carriage carriage;

	/* Set once all ranks have come and earlier rounds are over; at flow,
	 * once this one is over: */
	bool complete;
	double start_s, end_s;
	const struct dist__algorithm *algorithm; /* NULL: not one of coll/ */

	enum dist_error error; /* why it can never be complete; or OK */
};

/* dist__sim_analytic_of returns the meeting of members, and makes it for the
 * first of them. It lives as long as the world. NULL: no memory. */
struct dist__sim_analytic *
dist__sim_analytic_of(struct dist__sim_rank *rank,
		      const struct dist__members *members);

/* dist__sim_analytic_measure determines what the members' links allow. Called
 * before the first collective that takes time. Errors: NO_MEMORY. */
enum dist_error dist__sim_analytic_measure(struct dist__sim_analytic *meeting);

/* dist__sim_analytic_send returns what the profile's library takes for this
 * message of rank; zeros where its sends have no price of their own. */
struct dist__sim_send dist__sim_analytic_send(struct dist__sim_rank *rank,
					      const struct dist__message *m);

/* dist__sim_come enters the calling actor's rank, `self` in the group, for op,
 * and returns the round with a reference for it; NULL: no memory. Never blocks.
 * A round that can no longer complete has an error. */
struct dist__sim_round *dist__sim_come(struct dist__sim_analytic *meeting,
				       const struct dist__op *op, int self);

/* dist__sim_has_ended returns whether dist__sim_await() would return at once.
 */
bool dist__sim_has_ended(const struct dist__sim_world *world,
			 const struct dist__sim_round *round);

/* dist__sim_await blocks the calling actor, of that rank, until the round ends,
 * or until deadline_ns. Errors: the round's; TIMEOUT; the world's. */
enum dist_error dist__sim_await(struct dist__sim_round *round,
				struct dist__sim_rank *rank,
				int64_t deadline_ns);

/* dist__sim_can_combine returns whether ranks that come to a round of op have
 * its data combined; those of an untimed op have. */
bool dist__sim_can_combine(const struct dist__op *op);

/* dist__sim_round_store stores what follows for `self` of the group from what
 * all have brought to a complete round of op, if that was combined or ranks
 * stand for others. Errors: NO_MEMORY; IO (those do not do the same, which has
 * ended the world). */
enum dist_error dist__sim_round_store(const struct dist__sim_round *round,
				      int self, const struct dist__op *op);

/* dist__sim_round_drop gives a reference back. */
void dist__sim_round_drop(struct dist__sim_round *round);

/* dist__sim_analytics_abort notes that rank has aborted group: its incomplete
 * rounds fail. */
void dist__sim_analytics_abort(const struct dist__sim_rank *rank,
			       uint32_t group);

/* dist__sim_analytics_end wakes all waiting ranks: the world has ended. */
void dist__sim_analytics_end(struct dist__sim_world *world);

/* dist__sim_shared is shared() of core/simulation.h. */
void **dist__sim_shared(struct dist__transport *t,
			const struct dist__members *members, int key);

void dist__sim_analytics_release(struct dist__sim_world *world);

#endif
