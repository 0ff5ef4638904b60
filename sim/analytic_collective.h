/*
 * analytic_collective.h - collectives of which no message is simulated. Each
 * rank waits until the last rank of the group has come, and then for the time
 * that the profile's library takes: at formula, on links that nobody else uses;
 * at flow, on the platform's links, which its transfers (traffic.h) share with
 * what else is there. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_ANALYTIC_COLLECTIVE_H
#define LOCKSTEP_SIM_ANALYTIC_COLLECTIVE_H

#include "sim/traffic.h"
#include "sim/world.h"

/* A rank that waits for others to come; lives where it waits. */
struct dist__sim_waiter {
	struct dist__engine_gate *gate;
	struct dist__sim_waiter *next;
	bool is_out; /* of the list */
};

/* One collective. */
struct dist__sim_round {
	struct dist__sim_round *next; /* in the order in which it was begun */
	uint32_t seq;
	uint64_t fingerprint;
	int came; /* ranks */
	int held; /* by whom it may not go for */
	/* The most that a rank brings, and keeps of the result. */
	size_t numel, result_numel;
	void *sum; /* of an untimed one: of what came, owned; NULL: no data */
	struct dist__sim_waiter *waiters;

	/* At flow, once all have come: */
	struct dist__sim_round *behind; /* whose turn is next; NULL: nobody's */
	bool begun;
	struct dist__sim_carriage carriage;

	/* Once all have come, and the rounds before are over; at flow, once
	 * this one is: */
	bool complete;
	double start_s, end_s;
	const struct dist__algorithm *algorithm; /* NULL: none of ours */

	enum dist_error error; /* it never will be complete; or OK */
};

/* dist__sim_analytic_of returns where the members meet that the rank of place
 * has, made for the first of them; it lives as long as the world. NULL: no
 * memory. */
struct dist__sim_analytic *
dist__sim_analytic_of(struct dist__sim_rank *rank,
		      const struct dist__members *members);

/* dist__sim_analytic_measure finds out what the members' collectives take by
 * their links; before the first that takes any time. Errors: NO_MEMORY. */
enum dist_error dist__sim_analytic_measure(struct dist__sim_analytic *meeting);

/* dist__sim_come lets the calling actor's rank come for op, and returns the
 * round, held for it; NULL: no memory. Never blocks. A round that cannot become
 * complete any more has an error. */
struct dist__sim_round *dist__sim_come(struct dist__sim_analytic *meeting,
				       const struct dist__op *op);

/* dist__sim_round_over returns whether dist__sim_round_wait() would return at
 * once. */
bool dist__sim_round_over(const struct dist__sim_world *world,
			  const struct dist__sim_round *round);

/* dist__sim_round_wait lets the calling actor wait until the round's end, or
 * deadline_ns. Errors: the round's; TIMEOUT; the world's. */
enum dist_error dist__sim_round_wait(struct dist__sim_rank *rank,
				     struct dist__sim_round *round,
				     int64_t deadline_ns);

/* dist__sim_round_look lets the time of a look that finds the round not over
 * pass. */
void dist__sim_round_look(struct dist__sim_rank *rank,
			  const struct dist__sim_round *round);

/* dist__sim_round_hold and drop: who drops it does not look at it again. */
void dist__sim_round_hold(struct dist__sim_round *round);
void dist__sim_round_drop(struct dist__sim_analytic *meeting,
			  struct dist__sim_round *round);

/* dist__sim_analytics_abort notes that rank has left group for a failure: what
 * is not complete never will be. */
void dist__sim_analytics_abort(const struct dist__sim_rank *rank,
			       uint32_t group);

/* dist__sim_analytics_end lets all go that wait in one: the world has ended.
 */
void dist__sim_analytics_end(struct dist__sim_world *world);

/* dist__sim_shared is shared() of core/simulation.h. */
void **dist__sim_shared(struct dist__transport *t,
			const struct dist__members *members, int key);

/* dist__sim_hand_over is hand_over() of core/simulation.h. */
enum dist_error dist__sim_hand_over(struct dist__transport *t,
				    const struct dist__members *members,
				    struct dist__op *op);

void dist__sim_analytics_release(struct dist__sim_world *world);

#endif
