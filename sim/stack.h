/*
 * stack.h - how much stack a rank has. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_STACK_H
#define LOCKSTEP_SIM_STACK_H

#include "sim/world.h"

/* dist__sim_stack_choose finds out what text, of LOCKSTEP_STACK_SIZE, says the
 * stack of a rank shall have, else 8 MiB, or less where the system counts
 * memory that nobody has touched. Where the maps of all stacks would be more
 * than the system allows, they have no guard. Errors: INVALID_ARGUMENT;
 * NO_MEMORY, message says of which limit and what to do: the ranks are more
 * than the system has room for. */
enum dist_error dist__sim_stack_choose(struct dist__sim_world *world,
				       const char *text,
				       struct dist_message *message);

#endif
