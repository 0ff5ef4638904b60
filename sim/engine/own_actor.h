/*
 * own_actor.h - actors of the own engine, and the loop that runs them. Private
 * to sim/engine/.
 *
 * An instant goes as SimGrid's: all that can run does, in the order in which it
 * came to be able to; then the links are shared again, and the clock goes on to
 * what comes next; calls that are due come before what ended on the links or
 * slept until then.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_ACTOR_H
#define LOCKSTEP_SIM_ENGINE_OWN_ACTOR_H

#include "sim/engine/engine.h"
#include "sim/engine/own_net.h"
#include "sim/engine/own_stack.h"

/* Something that can run: an actor, or a call outside all actors. */
struct own_task {
	struct own_task *next;
	void (*run)(struct own_task *task); /* NULL: an actor */
};

struct own_actor {
	struct own_task task;   /* first */
	struct own_event event; /* it sleeps, or has waited so long; may be
				 * early, of a wait that is over */
	struct own_context *context;
	double until_s; /* what it waits for at most */
	bool waits, is_late;
	struct dist__engine_gate *gate; /* where it waits; or NULL */
	void (*body)(void *arg);
	void *arg;
};

/* The engine's; one a process. */
struct own_actors {
	struct own_net *net;
	struct own_actor *running; /* NULL: none */
	struct own_task *first, **last;
	struct own_task *woken, **last_woken; /* by the clock */
};

extern struct own_actors dist__own;

/* dist__own_ready lets a task run in this instant, after those that can;
 * dist__own_woken one that the clock has woken, after the calls that are due.
 */
void dist__own_ready(struct own_task *task);
void dist__own_woken(struct own_task *task);

/* dist__own_wait has the running actor wait until it is made ready, or for so
 * many seconds (less than 0: for ever); it returns false if that is over. */
bool dist__own_wait(double seconds);

/* What the table calls. */
void dist__own_spawn(uint32_t host, size_t stack_bytes, void (*body)(void *arg),
		     void *arg);
void *dist__own_self(void);
void dist__own_sleep(double seconds);
void dist__own_yield(void);
double dist__own_now_s(void);
void dist__own_run(void (*advanced)(void *arg), void *arg);
void dist__own_at(double time_s, void (*call)(void *arg), void *arg);
bool dist__own_wait_at(struct dist__engine_gate *gate, double seconds);
void dist__own_open(struct dist__engine_gate *gate);

#endif
