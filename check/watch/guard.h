/*
 * guard.h - protects pages of memory that the program must not touch for a
 * while, and finds out who does.
 *
 * A guard protects the whole pages within some memory. An access faults; the
 * handler of SIGSEGV stores where the program was, removes the protection, and
 * the access proceeds. All other faults go to the earlier handler, so that
 * crashes stay as they were.
 *
 * Not guarded are bytes on pages shared with other memory, because a system
 * call like write() on that fails if it is protected; memory that the program
 * cannot write anyway; and the caller's stack.
 *
 * Handler and guards belong to the process; every function may be called from
 * any thread. A forked child has no guards.
 */
#ifndef LOCKSTEP_CHECK_WATCH_GUARD_H
#define LOCKSTEP_CHECK_WATCH_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instructions stored for an access, innermost first. */
#define DIST__GUARD_FRAMES 8

enum dist__guard_level {
	DIST__GUARD_OPEN,
	DIST__GUARD_WRITES, /* memory may be read */
	DIST__GUARD_ALL
};

struct dist__access {
	enum dist__guard_level level; /* OPEN: no access; WRITES: a write; ALL:
				       * maybe only a read */
	const char *address;
	/* Instructions: the access, and the calls that led there; then 0.
	 */
	uintptr_t frames[DIST__GUARD_FRAMES];
};

struct dist__guard;

/* dist__guard_new guards bytes of memory, none of which is lifted by
 * dist__guard_lift(). NULL: impossible, or there is no whole page. */
struct dist__guard *dist__guard_new(const void *memory, size_t bytes,
				    enum dist__guard_level level);

/* dist__guard_access returns the first write since, else the first other
 * access. guard may be NULL: no access. */
struct dist__access dist__guard_access(const struct dist__guard *guard);

/* dist__guard_free ends guard, which may be NULL. */
void dist__guard_free(struct dist__guard *guard);

/* dist__guard_lift, lifted true, allows the caller to touch memory despite all
 * guards; false, with the same memory and bytes, ends that. */
void dist__guard_lift(const void *memory, size_t bytes, bool lifted);

#endif
