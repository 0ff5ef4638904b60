/*
 * shadow_copy.h - caller's memory that one operation uses, and the private copy
 * that the operation works on.
 *
 * Operations that run in order may use results of earlier ones in the same
 * memory or a part of it. When such an operation begins, its copy takes the
 * results from the copies of the earlier ones.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_SHADOW_COPY_H
#define LOCKSTEP_CORE_SHADOW_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer_pool.h"

struct dist__shadow_copy {
	struct dist__shadow_copy *next; /* in the operation's list */
	struct dist__buffer_pool *pool;
	char *user;
	size_t bytes;
	char *work;   /* the copy */
	char *was;    /* the bytes that user must still hold; NULL: as work */
	size_t users; /* the operation, and later ones that read its results */
	struct dist__inflow *inflows;
};

/* dist__shadow_copy_new copies bytes at user into memory from pool, which
 * outlives the copy. NULL: no memory. */
struct dist__shadow_copy *dist__shadow_copy_new(struct dist__buffer_pool *pool,
						char *user, size_t bytes);

/* dist__shadow_copy_keep saves the bytes at user apart from the copy, which
 * the operation will change. false: no memory. */
bool dist__shadow_copy_keep(struct dist__shadow_copy *shadow);

/* dist__shadow_copy_follow makes shadow take the results that earlier will have
 * in bytes at user, if both share any of these; of several earlier ones that of
 * the highest age counts. false: no memory. */
bool dist__shadow_copy_follow(struct dist__shadow_copy *shadow,
			      struct dist__shadow_copy *earlier, uint64_t age,
			      const char *user, size_t bytes);

/* dist__shadow_copy_begin copies the results of earlier operations, which are
 * done, into the copy: its operation begins. On any thread. */
void dist__shadow_copy_begin(struct dist__shadow_copy *shadow);

/* dist__shadow_copy_covers returns whether bytes at user lie in shadow. */
bool dist__shadow_copy_covers(const struct dist__shadow_copy *shadow,
			      const char *user, size_t bytes);

/* dist__shadow_copy_change returns the first of bytes at user, in shadow, that
 * has changed. NULL: none. */
const char *dist__shadow_copy_change(const struct dist__shadow_copy *shadow,
				     const char *user, size_t bytes);

/* dist__shadow_copy_deliver copies results to the caller's bytes at user. */
void dist__shadow_copy_deliver(const struct dist__shadow_copy *shadow,
			       char *user, size_t bytes);

/* dist__shadow_copy_expect notes that bytes at user, the caller's, have been
 * changed by the results of another operation. */
void dist__shadow_copy_expect(struct dist__shadow_copy *shadow,
			      const char *user, size_t bytes);

/* dist__shadow_copy_free: its operation is done; later ones may use it yet. */
void dist__shadow_copy_free(struct dist__shadow_copy *shadow);

#endif
