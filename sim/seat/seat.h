/*
 * seat.h - ranks that are processes of their own, in a simulation.
 */
#ifndef LOCKSTEP_SIM_SEAT_SEAT_H
#define LOCKSTEP_SIM_SEAT_SEAT_H

#include <stdbool.h>

/* What every rank runs. */
struct dist__seat_job {
	char *const *argv; /* ended by NULL */
	int nproc_per_node;
	bool forks; /* argv is one process that forks the ranks */
};

/* dist__seat_rank is the program of a simulated rank that is job's (arg): its
 * process does what it does. Returns the rank's status. To be given to
 * dist_launch() in the simulated world. */
int dist__seat_rank(void *job);

#endif
