/*
 * beside.h - messages and events of a rank that is a process: what its threads
 * ask of the transport, beside its groups. Private to sim/seat/.
 */
#ifndef LOCKSTEP_SIM_SEAT_BESIDE_H
#define LOCKSTEP_SIM_SEAT_BESIDE_H

#include "core/seat.h"

struct dist__seat_message;

/* Those of a rank; zeroed: none. Number n is at n - 1. */
struct dist__seat_beside {
	struct dist__seat_message **messages;
	struct dist__event **events;
	uint32_t num_messages, num_events;
};

/* dist__seat_place finds a free place in a table of pointers, and makes it
 * longer if there is none. NULL: no memory. */
void **dist__seat_place(void ***table, uint32_t *num);

/* dist__seat_beside_serve carries out the request in seat, of a thread of
 * process pid, on its rank's transport. Errors: as the transport's calls;
 * INVALID_ARGUMENT (no such number), IO (the memory cannot be read or written).
 */
enum dist_error dist__seat_beside_serve(struct dist__seat_beside *beside,
					struct dist__transport *transport,
					int pid, struct dist__seat_slot *seat);

/* dist__seat_beside_free frees the tables, which nobody uses any more. */
void dist__seat_beside_free(struct dist__seat_beside *beside);

/* dist__seat_is_asleep returns whether no thread of process pid runs. */
bool dist__seat_is_asleep(int pid);

#endif
