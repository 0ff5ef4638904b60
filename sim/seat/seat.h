/*
 * seat.h - simulated ranks that are processes.
 */
#ifndef LOCKSTEP_SIM_SEAT_SEAT_H
#define LOCKSTEP_SIM_SEAT_SEAT_H

#include <stdbool.h>

/* What every rank runs. */
struct dist__seat_job {
	char *const *argv; /* ends with NULL */
	int nproc_per_node;
	bool forks; /* argv is one process that forks the ranks */
};

/* dist__seat_rank is the rank_main for dist_launch() in the simulated world: it
 * simulates what the rank's process calls. job is a struct dist__seat_job.
 * Returns the rank's status. */
int dist__seat_rank(void *job);

#endif
