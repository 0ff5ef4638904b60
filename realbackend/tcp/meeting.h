/* meeting.h - a rendezvous in any store that the ranks share, where nobody
 * keeps the roster. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_MEETING_H
#define LOCKSTEP_TCP_MEETING_H

#include "core/parcel.h"
#include "lockstep/store.h"

struct dist__environment;

/*
 * dist__meeting_join notes in store that e->rank came, reachable at address,
 * and waits until all have, or somebody says why that will not be. *reply,
 * which the caller releases, is what dist__roster_tell() made of it. Errors:
 * those of the store.
 */
enum dist_error dist__meeting_join(struct dist_store *store,
				   const struct dist__environment *e,
				   const char *address,
				   struct dist__parcel *reply);

/* dist__meeting_is_over stores whether the first meeting in store has its
 * roster. Errors: those of the store. */
enum dist_error dist__meeting_is_over(struct dist_store *store, bool *over);

#endif
