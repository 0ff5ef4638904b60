/*
 * guard.h - pages of memory that the program must not touch for a while, and
 * who does it all the same.
 *
 * A guard protects the whole pages within some memory. An access there faults;
 * the handler of SIGSEGV notes where the program was, gives way, and the access
 * goes on as if nothing had been. Everything else that faults is handed to the
 * handler that was there before, so that a crash stays what it was.
 *
 * Bytes on pages that belong to others too are not guarded: the system refuses
 * a call like write() that is given protected memory, and their owners may make
 * one. Nor is memory that the program could not write anyway, nor the stack of
 * the caller.
 *
 * Handler and guards are the process's; every function may be called from any
 * thread. A forked child has none.
 */
#ifndef LOCKSTEP_CHECK_WATCH_GUARD_H
#define LOCKSTEP_CHECK_WATCH_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Callers that an access is noted with, innermost first. */
#define DIST__GUARD_FRAMES 8

enum dist__guard_level {
	DIST__GUARD_OPEN,
	DIST__GUARD_WRITES, /* memory may be read */
	DIST__GUARD_ALL
};

struct dist__access {
	enum dist__guard_level level; /* OPEN: there was none; WRITES: it wrote;
				       * ALL: it may have read only */
	const char *address;
	/* Instructions: the access, and the calls that led there; 0: no
	 * more. */
	uintptr_t frames[DIST__GUARD_FRAMES];
};

struct dist__guard;

/* dist__guard_new guards bytes of memory, of which none may be guarded by
 * dist__guard_lift(). NULL: it cannot be, or there is no whole page. */
struct dist__guard *dist__guard_new(const void *memory, size_t bytes,
				    enum dist__guard_level level);

/* dist__guard_access returns the first write since, if none the first access
 * of another kind. guard may be NULL: there was none. */
struct dist__access dist__guard_access(const struct dist__guard *guard);

/* dist__guard_free ends guard, which may be NULL. */
void dist__guard_free(struct dist__guard *guard);

/* dist__guard_lift lets the caller touch memory in spite of all guards, or,
 * with the same arguments but lifted false, not any more. */
void dist__guard_lift(const void *memory, size_t bytes, bool lifted);

#endif
