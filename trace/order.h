/* order.h - whether two traces tell of the same calls in the same order. */
#ifndef LOCKSTEP_TRACE_ORDER_H
#define LOCKSTEP_TRACE_ORDER_H

#include "trace/trace.h"

/*
 * dist__order_check compares the ranks, and each rank's calls on each group.
 * Writes the first difference as a sentence to reason, "" when there is none.
 * What one side does not tell (PyTorch's profiler knows no reduction op) is
 * not compared. Errors: NO_MEMORY.
 */
enum dist_error dist__order_check(const struct dist__trace *predicted,
				  const struct dist__trace *measured,
				  char *reason, size_t size);

#endif
