/*
 * points.h - watchpoints: find the line that touches memory without a page of
 * its own, if the kernel provides the processor's debug registers (on x86-64,
 * four of eight bytes for each thread).
 *
 * They see only the own code of the thread that sets them: neither other
 * threads nor system calls. Watched are the first and the last element and, for
 * reads, the first element in a 64-byte line that belongs to the memory alone:
 * a vector instruction may read more of a line than it needs.
 *
 * They belong to the process, like guards; every function may be called from
 * any thread. A forked child has none.
 */
#ifndef LOCKSTEP_CHECK_WATCH_POINTS_H
#define LOCKSTEP_CHECK_WATCH_POINTS_H

#include "check/watch/guard.h"

/* Bytes that one point watches, at most. */
#define DIST__POINT_BYTES 8

struct dist__points;

/* dist__points_new watches a part of memory, which has elements of unit bytes.
 * NULL: impossible. */
struct dist__points *dist__points_new(const void *memory, size_t bytes,
				      size_t unit,
				      enum dist__guard_level level);

/* dist__points_access returns the first write since, else the first read.
 * points may be NULL: no access. */
struct dist__access dist__points_access(const struct dist__points *points);

/* dist__points_free ends points, which may be NULL. */
void dist__points_free(struct dist__points *points);

/* dist__points_lift, lifted true, allows the caller to touch memory despite all
 * points; false, with the same memory and bytes, ends that. */
void dist__points_lift(const void *memory, size_t bytes, bool lifted);

#endif
