/*
 * own_stack.h - stacks that take turns on one thread. Private to sim/engine/.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_STACK_H
#define LOCKSTEP_SIM_ENGINE_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* Where something stands that is not running, and what a sanitizer knows of
 * it. */
struct own_context {
	void *sp;
	void *stack; /* lowest byte; NULL: the thread's own */
	size_t bytes;
	void *fake, *fiber;       /* of the sanitizers */
	struct own_context *next; /* of those that are free */
};

/* dist__own_context_new returns a context on a stack of so many bytes at least,
 * with a gap below that nobody may touch unless there are very many; NULL: no
 * memory. What is not touched takes none. dist__own_contexts_free frees all. */
struct own_context *dist__own_context_new(size_t bytes);
void dist__own_context_free(struct own_context *context);
void dist__own_contexts_free(void);

/* dist__own_context_begin has body(arg) called when it is switched to next;
 * body must not return. */
void dist__own_context_begin(struct own_context *context,
			     void (*body)(void *arg), void *arg);

/* dist__own_context_switch leaves from, of the caller, for to; it returns when
 * from is switched to. */
void dist__own_context_switch(struct own_context *from, struct own_context *to,
			      bool for_good);

#endif
