/*
 * store.h - requests of rank processes to the store that simulated ranks share.
 * Private to sim/seat/.
 */
#ifndef LOCKSTEP_SIM_SEAT_STORE_H
#define LOCKSTEP_SIM_SEAT_STORE_H

#include "core/seat.h"

/* A value that the rank has still to fetch; zeroed: none. */
struct dist__seat_value {
	char *bytes;
	size_t len;
};

/* dist__seat_store_serve carries out the request in seat on store. The rank
 * represents stands_for ranks: what it adds is added for each of them. Errors:
 * as the calls of lockstep/store.h; IO (the rank's memory cannot be read or
 * written). */
enum dist_error dist__seat_store_serve(struct dist_store *store, int stands_for,
				       struct dist__seat_slot *seat,
				       struct dist__seat_value *value);

#endif
