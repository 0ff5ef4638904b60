/* summary.h - lists the failed ranks of a node as torchrun does. Private to
 * realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_SUMMARY_H
#define LOCKSTEP_LAUNCH_SUMMARY_H

#include <stdio.h>

#include "realbackend/launch/child.h"

/* dist__summary_print lists the children that failed before they were told to
 * end, the cause last. The cause is culprit, the rank at fault in the verdict,
 * even if it ended well or runs on another node; without a verdict (-1) rank
 * first, or (-1) the first to end. name is the program's. Prints nothing if no
 * child failed. */
void dist__summary_print(FILE *out, const char *name, int culprit, int first,
			 const struct dist__child *children, int num_children,
			 const struct dist__plumbing *plumbing);

#endif
