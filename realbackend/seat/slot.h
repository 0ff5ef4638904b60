/*
 * slot.h - this process as a rank of a simulation: its seat, and its requests.
 * Private to realbackend/seat/.
 */
#ifndef LOCKSTEP_SEAT_SLOT_H
#define LOCKSTEP_SEAT_SLOT_H

#include "core/seat.h"

/* dist__seat_open maps the seat of this process, once. Errors:
 * INVALID_ARGUMENT (it has none, or another version of the library made it),
 * IO; message (may be NULL) explains. */
enum dist_error dist__seat_open(struct dist_message *message);

/* dist__seat_begin returns the seat for a request, which this thread alone
 * writes: a lane's own, else the rank's. The seat must be open. */
struct dist__seat_slot *dist__seat_begin(void);

/* dist__seat_ask sends the request, and returns the answer's error. PEER_LOST:
 * the simulation has ended. */
enum dist_error dist__seat_ask(struct dist__seat_slot *seat,
			       enum dist__seat_code code);

/* dist__seat_end allows other threads to ask, after the answer was read. */
void dist__seat_end(void);

/* dist__seat_of maps the seat of a lane of the rank; NULL: it cannot.
 * dist__seat_unmap undoes that. dist__seat_take makes it the calling thread's,
 * for dist__seat_begin(). */
struct dist__seat_slot *dist__seat_of(int lane);
void dist__seat_unmap(struct dist__seat_slot *seat);
void dist__seat_take(struct dist__seat_slot *seat);

/* dist__seat_now_ns returns the rank's clock, which requests advance, and
 * charged compute time between them. */
int64_t dist__seat_now_ns(void);

/* dist__seat_owe adds duration_ns to the rank's clock before its next
 * request. */
void dist__seat_owe(int64_t duration_ns);

/* dist__seat_find maps the seats of all ranks, for the process that forks them;
 * NULL: there are none. */
struct dist__seat_head *dist__seat_find(void);

/* dist__seat_records returns the rank's records; NULL: no seat is open. */
struct check_slot *dist__seat_records(void);

/* dist__seat_debug returns the simulation's debug level, dist__seat_running how
 * many ranks run. */
enum dist__debug dist__seat_debug(void);
int dist__seat_running(void);

#endif
