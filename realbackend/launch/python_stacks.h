/* python_stacks.h - the stacks of Python ranks, on request. Private to
 * realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_PYTHON_STACKS_H
#define LOCKSTEP_LAUNCH_PYTHON_STACKS_H

#include <stdio.h>

struct dist__child;

/* dist__stacks_print asks the ranks that can answer for the stacks of their
 * threads and prints them: blocks for about 40 ms, at most a second. */
void dist__stacks_print(FILE *out, const struct dist__child *children,
			int num_children);

#endif
