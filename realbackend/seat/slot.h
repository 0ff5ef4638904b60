/*
 * slot.h - this process as a rank of a simulation: its seat, and asking there.
 * Private to realbackend/seat/.
 */
#ifndef LOCKSTEP_SEAT_SLOT_H
#define LOCKSTEP_SEAT_SLOT_H

#include "core/seat.h"

/* dist__seat_open maps the seat of this process, once. Errors:
 * INVALID_ARGUMENT (it has none, or another version of the library made it),
 * IO; message, unless NULL, says why. */
enum dist_error dist__seat_open(struct dist_message *message);

/* dist__seat_begin returns the seat, for a request to be written to by this
 * thread alone. The seat must be open. */
struct dist__seat_slot *dist__seat_begin(void);

/* dist__seat_ask sends the request, and returns the answer's error. PEER_LOST:
 * the simulation has ended. */
enum dist_error dist__seat_ask(struct dist__seat_slot *seat,
			       enum dist__seat_code code);

/* dist__seat_end lets another thread ask, once the answer is read. */
void dist__seat_end(void);

/* dist__seat_now_ns returns the rank's clock: it moves by requests, and by what
 * computing between them is charged for. */
int64_t dist__seat_now_ns(void);

/* dist__seat_owe lets so much more time pass on the rank's clock before its
 * next request. */
void dist__seat_owe(int64_t duration_ns);

/* dist__seat_find maps the seats of all ranks, for who forks them; NULL: there
 * are none. */
struct dist__seat_head *dist__seat_find(void);

/* dist__seat_records returns the rank's records; NULL: no seat is open. */
struct check_slot *dist__seat_records(void);

/* dist__seat_debug returns how closely calls are watched. */
enum dist__debug dist__seat_debug(void);

#endif
