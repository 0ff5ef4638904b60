/*
 * own_actor.h - actors of the own engine, and the loop that runs them. Private
 * to sim/engine/.
 *
 * An instant has the order that it has in SimGrid. First all tasks that are
 * ready run, in the order in which they became ready. Then the rates on the
 * links are computed, and the clock advances to the next event. There calls
 * that are due (dist__own_at) run before actors whose transfer or sleep has
 * ended.
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
	struct own_event event; /* the end of a sleep, or the deadline of a
				 * wait; that of an earlier wait may still be
				 * there, and is then ignored */
	struct own_context *context;
	double until_s; /* the end of the sleep or wait */
	bool waits, is_late;
	struct dist__engine_gate *gate; /* where it waits; or NULL */
	void (*body)(void *arg);
	void *arg;
};

/* The state of the engine; a process has one. */
struct own_actors {
	struct own_net *net;
	struct own_actor *running; /* NULL: none */
	struct own_task *first, **last;
	struct own_task *woken, **last_woken; /* by the clock */
};

extern struct own_actors dist__own;

/* dist__own_out_of_memory says so and ends the process: nothing above could go
 * on as if nothing had been. */
_Noreturn void dist__own_out_of_memory(void);

/* dist__own_ready makes a task ready: it runs in this instant, after those that
 * are. dist__own_woken does so for one whose time has come: it runs after the
 * calls that are due. */
void dist__own_ready(struct own_task *task);
void dist__own_woken(struct own_task *task);

/* dist__own_wait blocks the running actor until it is made ready, or for
 * seconds (negative: for ever); it returns false if that time is over. */
bool dist__own_wait(double seconds);

/* The engine's functions of these names (engine.h). */
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
