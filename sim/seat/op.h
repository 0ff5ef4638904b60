/*
 * op.h - an operation of a rank that is another process, copied here with its
 * data. Private to sim/seat/.
 */
#ifndef LOCKSTEP_SIM_SEAT_OP_H
#define LOCKSTEP_SIM_SEAT_OP_H

#include "core/seat.h"

/* dist__seat_read copies bytes at address `from` of process pid. Errors: IO. */
enum dist_error dist__seat_read(int pid, void *to, const void *from,
				size_t bytes);

/* dist__seat_write copies bytes to address `to` of process pid. Errors: IO. */
enum dist_error dist__seat_write(int pid, void *to, const void *from,
				 size_t bytes);

/* An operation in flight; owned by the caller that made it. */
struct dist__seat_work;

/* dist__seat_work_new copies the operation in seat and the data that it reads.
 * The caller is `rank` of a group of world_size. Errors: NO_MEMORY, IO (the
 * memory cannot be read), UNSUPPORTED (several devices). */
enum dist_error dist__seat_work_new(const struct dist__seat_slot *seat,
				    int rank, int world_size,
				    struct dist__seat_work **work);

/* dist__seat_work_op returns the operation to give to a back end. */
struct dist__op *dist__seat_work_op(struct dist__seat_work *work);

/* dist__seat_work_end writes the results of a complete operation into the
 * rank's memory and its error into seat, and frees work. Errors: the
 * operation's; IO. */
enum dist_error dist__seat_work_end(struct dist__seat_work *work,
				    struct dist__seat_slot *seat);

/* dist__seat_work_free frees work that is not in flight. */
void dist__seat_work_free(struct dist__seat_work *work);

/* dist__seat_word returns a copy of text that lives as long as the process;
 * equal texts have one copy. NULL: no memory. */
const char *dist__seat_word(const char *text);

#endif
