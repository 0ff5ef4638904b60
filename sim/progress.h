/*
 * progress.h - the clock, and whether anything can still move. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_PROGRESS_H
#define LOCKSTEP_SIM_PROGRESS_H

#include "sim/world.h"

/* dist__sim_now_ns returns the clock, which stops when the world ends. */
int64_t dist__sim_now_ns(const struct dist__sim_world *world);

/* dist__sim_is_late returns whether deadline_ns has passed; always false in a
 * copy without deadlines. */
bool dist__sim_is_late(const struct dist__sim_world *world,
		       int64_t deadline_ns);

/* dist__sim_seconds_until returns the time until deadline_ns, 0 if passed. */
double dist__sim_seconds_until(const struct dist__sim_world *world,
			       int64_t deadline_ns);

/* dist__sim_leave_copy ends this process with that status if it is a copy that
 * the program made by fork(): of a simulation one is enough. */
void dist__sim_leave_copy(const struct dist__sim_world *world, int status);

/*
 * dist__sim_block notes that the calling actor is about to wait for another
 * actor. If then nothing can move, it ends the world with a verdict and returns
 * false: the caller must not wait, and counts as movable again.
 */
bool dist__sim_block(struct dist__sim_world *world);

/* dist__sim_unblock notes that a blocked actor can go on. The actor that
 * answers it calls this at once, or the blocked one itself after a timeout. */
void dist__sim_unblock(struct dist__sim_world *world);

/* dist__sim_break ends the world because of bad input: it prints message as one
 * line; calls return DIST_ERR_IO from then on, and the job exits with
 * DIST_EXIT_USAGE. */
void dist__sim_break(struct dist__sim_world *world, const char *message);

/* dist__sim_part ends the world, in silence: rank 0, which runs for all, cannot
 * stand for them. */
void dist__sim_part(struct dist__sim_world *world);

/* dist__sim_watch_note notes that rank runs again after a call in which it may
 * have waited. The calling actor is its program or a lane of it. */
static inline void dist__sim_watch_note(const struct dist__sim_rank *rank)
{
	struct dist__sim_watch *watch = rank->world->watch;

	watch->running = rank->rank;
	watch->steps++;
}

/* dist__sim_gate_wait waits until the gate opens, deadline_ns passes, or the
 * world ends; the caller checks which. */
void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__engine_gate *gate, int64_t deadline_ns);

/* dist__sim_gate_open lets the waiting actor go on, if there is one. */
void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__engine_gate *gate);

/* An actor that waits for what happens once; on its stack. */
struct dist__sim_waiter {
	struct dist__engine_gate *gate;
	struct dist__sim_waiter *next;
	bool is_out; /* no longer in the list */
};

/* dist__sim_list_wait waits among those of a list, as at a gate;
 * dist__sim_list_open lets them all go on. */
void dist__sim_list_wait(struct dist__sim_world *world,
			 struct dist__sim_waiter **list, int64_t deadline_ns);
void dist__sim_list_open(struct dist__sim_world *world,
			 struct dist__sim_waiter **list);

#endif
