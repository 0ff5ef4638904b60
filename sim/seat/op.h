/*
 * op.h - an operation of a rank that is another process: its copy here, with
 * its data. Private to sim/seat/.
 */
#ifndef LOCKSTEP_SIM_SEAT_OP_H
#define LOCKSTEP_SIM_SEAT_OP_H

#include "core/seat.h"

/* dist__seat_read copies bytes at address `from` of process pid. Errors: IO. */
enum dist_error dist__seat_read(int pid, void *to, const void *from,
				size_t bytes);

/* dist__seat_write copies bytes to address `to` there. Errors: IO. */
enum dist_error dist__seat_write(int pid, void *to, const void *from,
				 size_t bytes);

/* An operation under way; owned by who made it. */
struct dist__seat_work;

/* dist__seat_work_new copies the operation in seat, of a group of world_size
 * ranks of which the caller is `rank`, and what data it reads. Errors:
 * NO_MEMORY, IO (the memory cannot be read), UNSUPPORTED (several devices). */
enum dist_error dist__seat_work_new(const struct dist__seat_slot *seat,
				    int rank, int world_size,
				    struct dist__seat_work **work);

/* dist__seat_work_op returns the operation, for a back end. */
struct dist__op *dist__seat_work_op(struct dist__seat_work *work);

/* dist__seat_work_end writes what the operation, which is done, has brought
 * into the rank's memory, and how it ended into seat, and frees work. Errors:
 * the operation's; IO. */
enum dist_error dist__seat_work_end(struct dist__seat_work *work,
				    struct dist__seat_slot *seat);

/* dist__seat_work_free frees work, of which nothing is in flight. */
void dist__seat_work_free(struct dist__seat_work *work);

/* dist__seat_word returns a copy of text that lives as long as the process, the
 * same one for the same text; NULL: no memory. */
const char *dist__seat_word(const char *text);

#endif
