/* order.h - checks that two traces have the same calls in the same order. */
#ifndef LOCKSTEP_TRACE_ORDER_H
#define LOCKSTEP_TRACE_ORDER_H

#include "trace/trace.h"

/*
 * dist__order_check compares the ranks, and each rank's calls on each group.
 * Writes the first difference as a sentence to reason, "" if there is none.
 * Facts that one side does not have (PyTorch's profiler has no reduction op)
 * are not compared. Errors: NO_MEMORY.
 */
enum dist_error dist__order_check(const struct dist__trace *predicted,
				  const struct dist__trace *measured,
				  char *reason, size_t size);

#endif
