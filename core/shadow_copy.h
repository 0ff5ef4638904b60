/*
 * shadow_copy.h - memory of the caller that one operation holds, and the copy
 * of it that the operation works on instead.
 *
 * Operations that run in order may go on with what earlier ones leave in the
 * same memory, in all of it or in a part: then the copy takes what they left
 * in theirs when its own operation begins.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_SHADOW_COPY_H
#define LOCKSTEP_CORE_SHADOW_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer_pool.h"

struct dist__shadow_copy {
	struct dist__shadow_copy *next; /* of the operation's */
	struct dist__buffer_pool *pool;
	char *user;
	size_t bytes;
	char *work;   /* the copy */
	char *was;    /* what user must hold meanwhile; NULL: what work does */
	size_t users; /* the operation, and later ones that go on with it */
	struct dist__inflow *inflows;
};

/* dist__shadow_copy_new makes a copy of bytes at user, in memory from pool,
 * which outlive it. NULL: no memory. */
struct dist__shadow_copy *dist__shadow_copy_new(struct dist__buffer_pool *pool,
						char *user, size_t bytes);

/* dist__shadow_copy_keep keeps what user holds apart from the copy, which will
 * change. false: no memory. */
bool dist__shadow_copy_keep(struct dist__shadow_copy *shadow);

/* dist__shadow_copy_follow lets shadow go on with what the operation of earlier
 * leaves in bytes at user, if they have any in common. To be called for the
 * oldest first. false: no memory. */
bool dist__shadow_copy_follow(struct dist__shadow_copy *shadow,
			      struct dist__shadow_copy *earlier,
			      const char *user, size_t bytes);

/* dist__shadow_copy_begin takes what shadow goes on with into the copy: its
 * operation begins, the earlier ones are done. On any thread. */
void dist__shadow_copy_begin(struct dist__shadow_copy *shadow);

/* dist__shadow_copy_covers returns whether bytes at user lie in shadow. */
bool dist__shadow_copy_covers(const struct dist__shadow_copy *shadow,
			      const char *user, size_t bytes);

/* dist__shadow_copy_change returns the first of bytes at user, which lie in
 * shadow, that is not what it was. NULL: all are. */
const char *dist__shadow_copy_change(const struct dist__shadow_copy *shadow,
				     const char *user, size_t bytes);

/* dist__shadow_copy_deliver gives the caller the results of bytes at user. */
void dist__shadow_copy_deliver(const struct dist__shadow_copy *shadow,
			       char *user, size_t bytes);

/* dist__shadow_copy_expect notes that the caller has other bytes at user now,
 * with good reason; what shadow has of them follows another. */
void dist__shadow_copy_expect(struct dist__shadow_copy *shadow,
			      const char *user, size_t bytes);

/* dist__shadow_copy_free: its operation is done. What follows it still may. */
void dist__shadow_copy_free(struct dist__shadow_copy *shadow);

#endif
