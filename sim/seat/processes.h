/*
 * processes.h - the processes of simulated ranks. One process starts them, and
 * notes in each seat when its process ends. Private to sim/seat/.
 */
#ifndef LOCKSTEP_SIM_SEAT_PROCESSES_H
#define LOCKSTEP_SIM_SEAT_PROCESSES_H

#include <sys/types.h>

#include "core/seat.h"
#include "sim/seat/seat.h"

/* dist__seat_start starts a process for every rank of job, whose seats are in
 * the memory file fd, and returns the process that waits for them. That one
 * ends with the caller, and the ranks with it. -1 on failure, with errno. */
pid_t dist__seat_start(const struct dist__seat_job *job,
		       struct dist__seat_head *head, int fd);

#endif
