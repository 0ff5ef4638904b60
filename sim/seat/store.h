/*
 * store.h - the store that the ranks of a simulation share, asked for by
 * processes. Private to sim/seat/.
 */
#ifndef LOCKSTEP_SIM_SEAT_STORE_H
#define LOCKSTEP_SIM_SEAT_STORE_H

#include "core/seat.h"

/* A value that waits to be fetched by the rank that asked; zeroed: none. */
struct dist__seat_value {
	char *bytes;
	size_t len;
};

/* dist__seat_store_serve does what seat asks of store, of a rank that stands
 * for so many: what it adds they add, too. Errors: as the calls of
 * lockstep/store.h; IO (the rank's memory cannot be read or written). */
enum dist_error dist__seat_store_serve(struct dist_store *store, int stands_for,
				       struct dist__seat_slot *seat,
				       struct dist__seat_value *value);

#endif
