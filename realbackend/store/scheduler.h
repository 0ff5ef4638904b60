/* scheduler.h - the place of a process from the variables of mpirun or
 * srun. */
#ifndef LOCKSTEP_STORE_SCHEDULER_H
#define LOCKSTEP_STORE_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

/* Names of the variables; the last two may be NULL. */
struct dist__scheduler {
	const char *rank, *size, *local_size, *job;
};

/* dist__scheduler_find returns the names of those that are set: of Open MPI, of
 * MPICH and others with PMI, of PMIx or of Slurm; NULL: none. */
const struct dist__scheduler *dist__scheduler_find(void);

/* dist__scheduler_host stores the first host of the job; false: not known. */
bool dist__scheduler_host(char *host, size_t size);

/* dist__scheduler_port returns a port, below those that systems assign
 * themselves, computed from the job's number: the same on every rank, different
 * for other jobs. 29500, torchrun's, if the job has no number. */
int dist__scheduler_port(const struct dist__scheduler *scheduler);

#endif
