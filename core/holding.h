/*
 * holding.h - memory of the caller that one operation holds, and the copy of it
 * that the operation works on instead.
 *
 * Operations that run in order may go on with what earlier ones leave in the
 * same memory, in all of it or in a part: then the copy takes what they left
 * in theirs when its own operation begins.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_HOLDING_H
#define LOCKSTEP_CORE_HOLDING_H

#include <stdbool.h>
#include <stddef.h>

#include "core/spares.h"

struct dist__holding {
	struct dist__holding *next; /* of the operation's */
	struct dist__spares *spares;
	char *user;
	size_t bytes;
	char *work;   /* the copy */
	char *was;    /* what user must hold meanwhile; NULL: what work does */
	size_t users; /* the operation, and later ones that go on with it */
	struct dist__inflow *inflows;
};

/* dist__holding_new makes a copy of bytes at user, in memory from spares, which
 * outlive it. NULL: no memory. */
struct dist__holding *dist__holding_new(struct dist__spares *spares, char *user,
					size_t bytes);

/* dist__holding_keep keeps what user holds apart from the copy, which will
 * change. false: no memory. */
bool dist__holding_keep(struct dist__holding *holding);

/* dist__holding_follow lets holding go on with what the operation of earlier
 * leaves in bytes at user, if they have any in common. To be called for the
 * oldest first. false: no memory. */
bool dist__holding_follow(struct dist__holding *holding,
			  struct dist__holding *earlier, const char *user,
			  size_t bytes);

/* dist__holding_begin takes what holding goes on with into the copy: its
 * operation begins, the earlier ones are done. On any thread. */
void dist__holding_begin(struct dist__holding *holding);

/* dist__holding_covers returns whether bytes at user lie in holding. */
bool dist__holding_covers(const struct dist__holding *holding, const char *user,
			  size_t bytes);

/* dist__holding_change returns the first of bytes at user, which lie in
 * holding, that is not what it was. NULL: all are. */
const char *dist__holding_change(const struct dist__holding *holding,
				 const char *user, size_t bytes);

/* dist__holding_deliver gives the caller the results of bytes at user. */
void dist__holding_deliver(const struct dist__holding *holding, char *user,
			   size_t bytes);

/* dist__holding_expect notes that the caller has other bytes at user now, with
 * good reason; what holding has of them follows another. */
void dist__holding_expect(struct dist__holding *holding, const char *user,
			  size_t bytes);

/* dist__holding_free: its operation is done. What follows it still may. */
void dist__holding_free(struct dist__holding *holding);

#endif
