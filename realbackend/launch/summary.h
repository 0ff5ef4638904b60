/* summary.h - the ranks of a node that failed, listed as torchrun lists them.
 * Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_SUMMARY_H
#define LOCKSTEP_LAUNCH_SUMMARY_H

#include <stdio.h>

#include "realbackend/launch/child.h"

/* dist__summary_print lists those of the children that failed before they were
 * told to end, the cause last: culprit, the rank that the verdict of the job
 * turns on, even where it ended well or runs on another node; without a verdict
 * (-1) the rank first, or (-1) the first to end. name is the program's. Prints
 * nothing where none failed. */
void dist__summary_print(FILE *out, const char *name, int culprit, int first,
			 const struct dist__child *children, int num_children,
			 const struct dist__plumbing *plumbing);

#endif
