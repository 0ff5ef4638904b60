/* store_rendezvous.h - a rendezvous in any store that the ranks share, where
 * nobody keeps the roster. Private to realbackend/store/. */
#ifndef LOCKSTEP_STORE_STORE_RENDEZVOUS_H
#define LOCKSTEP_STORE_STORE_RENDEZVOUS_H

#include "realbackend/store/parcel.h"
#include "lockstep/store.h"

struct dist__environment;

/*
 * dist__store_rendezvous_join notes in store that e->rank came, reachable at
 * address, and waits until all have, or somebody says why that will not be.
 * *reply, which the caller releases, is what dist__roster_write() made of it.
 * Errors: those of the store.
 */
enum dist_error dist__store_rendezvous_join(struct dist_store *store,
					    const struct dist__environment *e,
					    const char *address,
					    struct dist__parcel *reply);

/* dist__store_rendezvous_is_over stores whether the first meeting in store has
 * its roster. Errors: those of the store. */
enum dist_error dist__store_rendezvous_is_over(struct dist_store *store,
					       bool *over);

#endif
