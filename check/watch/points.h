/*
 * points.h - watchpoints: who touches memory that has no page of its own is
 * known to the line, where the kernel lends the processor's debug registers (on
 * x86-64, four of eight bytes for each thread).
 *
 * They see what the thread that sets them does in its own code: neither other
 * threads, nor system calls. Watched are the first and the last element and,
 * for reads, the first in a 64-byte line that is the memory's alone: a vector
 * instruction may read more of a line than it needs.
 *
 * The process's, like guards; every function may be called from any thread. A
 * forked child has none.
 */
#ifndef LOCKSTEP_CHECK_WATCH_POINTS_H
#define LOCKSTEP_CHECK_WATCH_POINTS_H

#include "check/watch/guard.h"

/* What one point watches, at most. */
#define DIST__POINT_BYTES 8

struct dist__points;

/* dist__points_new watches some of bytes of memory, which has elements of unit
 * bytes. NULL: it cannot. */
struct dist__points *dist__points_new(const void *memory, size_t bytes,
				      size_t unit,
				      enum dist__guard_level level);

/* dist__points_access returns the first write since, if none the first read.
 * points may be NULL: there was none. */
struct dist__access dist__points_access(const struct dist__points *points);

/* dist__points_free ends points, which may be NULL. */
void dist__points_free(struct dist__points *points);

/* dist__points_lift lets the caller touch memory in spite of all points, or,
 * with the same arguments but lifted false, not any more. */
void dist__points_lift(const void *memory, size_t bytes, bool lifted);

#endif
