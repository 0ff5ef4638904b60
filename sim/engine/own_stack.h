/*
 * own_stack.h - stacks that take turns on one thread. Private to sim/engine/.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_STACK_H
#define LOCKSTEP_SIM_ENGINE_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* The state of a suspended actor, or of the loop that runs the actors. */
struct own_context {
	void *sp;
	void *stack; /* lowest byte; NULL: the thread's own */
	size_t bytes;
	void *fake, *fiber;       /* the sanitizers' state of it */
	struct own_context *next; /* in the list of free ones */
};

/* dist__own_context_new returns a context with a stack of at least `bytes`;
 * NULL: no memory. Memory below the stack faults when touched, unless there
 * are very many stacks. Pages that are never touched take no memory.
 * dist__own_context_free keeps a stack for reuse; dist__own_contexts_free frees
 * all. */
struct own_context *dist__own_context_new(size_t bytes);
void dist__own_context_free(struct own_context *context);
void dist__own_contexts_free(void);

/* dist__own_context_begin makes context call body(arg) when it is next switched
 * to; body must not return. */
void dist__own_context_begin(struct own_context *context,
			     void (*body)(void *arg), void *arg);

/* dist__own_context_switch suspends from, in which the caller runs, and
 * continues to. It returns when something switches to from again. for_good:
 * nothing will. */
void dist__own_context_switch(struct own_context *from, struct own_context *to,
			      bool for_good);

#endif
