/* summary.h - the ranks of a node that failed, listed as torchrun lists them.
 * Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_SUMMARY_H
#define LOCKSTEP_TCP_SUMMARY_H

#include <stdio.h>

#include "realbackend/tcp/child.h"

/* dist__summary_print lists those of the children that failed before they were
 * told to end, root's last as the cause (-1: the first to end). name is the
 * program's. Prints nothing where none failed. */
void dist__summary_print(FILE *out, const char *name, int root,
			 const struct dist__child *children, int num_children,
			 const struct dist__plumbing *plumbing);

#endif
