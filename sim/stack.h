/*
 * stack.h - the size of a rank's stack. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_STACK_H
#define LOCKSTEP_SIM_STACK_H

#include "sim/world.h"

/* dist__sim_stack_choose sets the size of a rank's stack: text, from
 * LOCKSTEP_STACK_SIZE; else 8 MiB, or less where the system counts untouched
 * memory. If guard pages would need more memory maps than the system allows,
 * stacks have none. Errors: INVALID_ARGUMENT; NO_MEMORY (no room for so many
 * ranks: message names the limit and what to do). */
enum dist_error dist__sim_stack_choose(struct dist__sim_world *world,
				       const char *text,
				       struct dist_message *message);

#endif
