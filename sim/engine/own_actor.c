/*
 * own_actor.c - actors that take turns, gates, and the clock's loop.
 */
#include "sim/engine/own_actor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/heap.h"

/* Of actors that run nothing but our own code. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USUAL_STACK ((size_t)512 << 10)
#else
#define USUAL_STACK ((size_t)256 << 10)
#endif

struct timer {
	double at_s;
	uint64_t number; /* those of one instant: in the order of the calls */
	void (*call)(void *arg);
	void *arg;
};

struct own_actors dist__own = {.last = &dist__own.first,
			       .last_woken = &dist__own.woken};

static struct own_context loop = {.sp = NULL}; /* outside all actors */
static struct own_actor *free_actors;
static struct own_context *gone; /* stack of an actor that has ended */
static struct timer *timers;     /* heap */
static size_t num_timers, timer_space;
static uint64_t timers_so_far;

void dist__own_out_of_memory(void)
{
	fprintf(stderr, "lockstep: no memory for the simulation\n");
	fflush(NULL);
	_exit(EXIT_FAILURE);
}

/* ---- who can run ----------------------------------------------------------
 */

void dist__own_ready(struct own_task *task)
{
	task->next = NULL;
	*dist__own.last = task;
	dist__own.last = &task->next;
}

void dist__own_woken(struct own_task *task)
{
	task->next = NULL;
	*dist__own.last_woken = task;
	dist__own.last_woken = &task->next;
}

static struct own_task *take(void)
{
	struct own_task *task = dist__own.first;

	dist__own.first = task->next;
	if (!dist__own.first)
		dist__own.last = &dist__own.first;
	return task;
}

/* Frees the stack of an actor that has ended, from another one. */
static void bury(void)
{
	if (gone)
		dist__own_context_free(gone);
	gone = NULL;
}

/* Goes on with the next actor, or the loop, until the calling one is let go on.
 */
static void give_way(struct own_actor *actor, bool for_good)
{
	struct own_context *to = &loop;

	dist__own.running = NULL;
	if (dist__own.first && !dist__own.first->run) {
		dist__own.running = (struct own_actor *)take();
		to = dist__own.running->context;
		if (dist__own.running == actor)
			return;
	}
	dist__own_context_switch(actor->context, to, for_good);
	bury();
}

/* ---- actors ---------------------------------------------------------------
 */

static void run_actor(void *arg)
{
	struct own_actor *actor = arg;

	bury();
	actor->body(actor->arg);
	dist__own_net_unsleep(dist__own.net, &actor->event);
	actor->task.next = (struct own_task *)free_actors;
	free_actors = actor;
	gone = actor->context;
	give_way(actor, true);
}

void dist__own_spawn(uint32_t host, size_t stack_bytes, void (*body)(void *arg),
		     void *arg)
{
	struct own_actor *actor = free_actors;

	(void)host;
	if (actor)
		free_actors = (struct own_actor *)actor->task.next;
	else
		actor = malloc(sizeof *actor);
	if (!actor)
		dist__own_out_of_memory();
	*actor = (struct own_actor){
		.event.kind = OWN_SLEEPER, .body = body, .arg = arg};
	actor->context =
		dist__own_context_new(stack_bytes ? stack_bytes : USUAL_STACK);
	if (!actor->context)
		dist__own_out_of_memory();
	dist__own_context_begin(actor->context, run_actor, actor);
	dist__own_ready(&actor->task);
}

void *dist__own_self(void)
{
	return dist__own.running ? dist__own.running->arg : NULL;
}

void dist__own_yield(void)
{
	struct own_actor *actor = dist__own.running;

	dist__own_ready(&actor->task);
	give_way(actor, false);
}

/* ---- waiting --------------------------------------------------------------
 */

static void set_event(struct own_actor *actor, double at_s)
{
	if (!dist__own_net_sleep(dist__own.net, &actor->event, at_s))
		dist__own_out_of_memory();
}

void dist__own_sleep(double seconds)
{
	if (!(seconds > 0))
		return;
	if (seconds < OWN_INSTANT_S)
		seconds = OWN_INSTANT_S;
	(void)dist__own_wait(seconds);
}

/* Most waits end long before their time is up: the event of an earlier wait
 * that comes before this one's end is left, and looks then. */
bool dist__own_wait(double seconds)
{
	struct own_actor *actor = dist__own.running;

	actor->waits = true;
	actor->is_late = false;
	actor->until_s = INFINITY;
	if (seconds >= 0) {
		actor->until_s = dist__own.net->now_s + seconds;
		if (!actor->event.place ||
		    dist__own.net->events.heap[actor->event.place - 1].at_s >
			    actor->until_s)
			set_event(actor, actor->until_s);
	}
	give_way(actor, false);
	return !actor->is_late;
}

static struct own_actor *actor_of(struct own_event *event)
{
	return (struct own_actor *)((char *)event -
				    offsetof(struct own_actor, event));
}

static void awake(struct own_net *net, struct own_event *event)
{
	struct own_actor *actor = actor_of(event);

	if (!actor->waits || actor->until_s == INFINITY)
		return;
	if (actor->until_s >= own_instant_end(net->now_s)) {
		set_event(actor, actor->until_s);
		return;
	}
	actor->waits = false;
	actor->is_late = true;
	if (actor->gate) {
		actor->gate->waiter = NULL;
		actor->gate = NULL;
	}
	dist__own_woken(&actor->task);
}

bool dist__own_wait_at(struct dist__engine_gate *gate, double seconds)
{
	struct own_actor *actor = dist__own.running;

	gate->waiter = actor;
	actor->gate = gate;
	return dist__own_wait(seconds);
}

void dist__own_open(struct dist__engine_gate *gate)
{
	struct own_actor *actor = gate->waiter;

	gate->waiter = NULL;
	actor->gate = NULL;
	actor->waits = false;
	dist__own_ready(&actor->task);
}

/* ---- calls at a time ------------------------------------------------------
 */

#define IS_BEFORE(a, b)                                                        \
	((a).at_s < (b).at_s ||                                                \
	 ((a).at_s == (b).at_s && (a).number < (b).number))

DIST__HEAP(timers, struct timer, 2, IS_BEFORE, DIST__HEAP_PUT)

void dist__own_at(double time_s, void (*call)(void *arg), void *arg)
{
	size_t place = num_timers++;

	if (!dist__array_room(&timers, &timer_space, num_timers,
			      sizeof *timers))
		dist__own_out_of_memory();
	timers_rise(timers, place,
		    (struct timer){time_s, timers_so_far++, call, arg});
}

/* ---- the clock ------------------------------------------------------------
 */

double dist__own_now_s(void)
{
	return dist__own.net->now_s;
}

static void run_tasks(void)
{
	while (dist__own.first) {
		struct own_task *task = take();

		if (task->run) {
			task->run(task);
			continue;
		}
		dist__own.running = (struct own_actor *)task;
		dist__own_context_switch(&loop, dist__own.running->context,
					 false);
		bury();
	}
}

void dist__own_run(void (*advanced)(void *arg), void *arg)
{
	struct own_net *net = dist__own.net;
	struct own_actor *actor;

	net->awake = awake;
	for (;;) {
		double next_s;

		run_tasks();
		next_s = dist__own_net_next(net);
		if (num_timers > 0 && timers[0].at_s < next_s)
			next_s = timers[0].at_s;
		if (next_s == INFINITY)
			break;
		dist__own_net_advance(net, next_s);
		advanced(arg);
		while (num_timers > 0 &&
		       timers[0].at_s <= dist__own.net->now_s) {
			struct timer timer = timers_pop(timers, num_timers--);

			timer.call(timer.arg);
		}
		if (dist__own.woken) {
			*dist__own.last = dist__own.woken;
			dist__own.last = dist__own.last_woken;
			dist__own.woken = NULL;
			dist__own.last_woken = &dist__own.woken;
		}
	}
	while ((actor = free_actors)) {
		free_actors = (struct own_actor *)actor->task.next;
		free(actor);
	}
	free(timers);
	timers = NULL;
	num_timers = timer_space = 0;
	dist__own_contexts_free();
}
