/* store_rendezvous.h - a rendezvous in any store that the ranks share, without
 * a server for the roster. Private to realbackend/store/. */
#ifndef LOCKSTEP_STORE_STORE_RENDEZVOUS_H
#define LOCKSTEP_STORE_STORE_RENDEZVOUS_H

#include "realbackend/store/parcel.h"
#include "lockstep/store.h"

struct dist__environment;

/*
 * dist__store_rendezvous_join registers e->rank, with its address, in store,
 * and waits until all ranks have come or a rank has published a failure.
 * *reply, which the caller releases, is that of dist__roster_write(). Errors:
 * those of the store.
 */
enum dist_error dist__store_rendezvous_join(struct dist_store *store,
					    const struct dist__environment *e,
					    const char *address,
					    struct dist__parcel *reply);

/* dist__store_rendezvous_is_over stores whether the first rendezvous in store
 * has its roster. Errors: those of the store. */
enum dist_error dist__store_rendezvous_is_over(struct dist_store *store,
					       bool *over);

#endif
