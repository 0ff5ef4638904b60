/* scheduler.h - the place of a process that mpirun or srun started, by their
 * variables. */
#ifndef LOCKSTEP_STORE_SCHEDULER_H
#define LOCKSTEP_STORE_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

/* Names of the variables that tell; the last two may be NULL. */
struct dist__scheduler {
	const char *rank, *size, *local_size, *job;
};

/* dist__scheduler_find returns whose variables are set: those of Open MPI, of
 * MPICH and its kin (PMI), of PMIx or of Slurm; NULL: nobody's. */
const struct dist__scheduler *dist__scheduler_find(void);

/* dist__scheduler_host stores the first host of the job; false: not known. */
bool dist__scheduler_host(char *host, size_t size);

/* dist__scheduler_port returns a port, below those that systems give out by
 * themselves, that follows from the number of the job: the same on every rank,
 * another for another job. 29500, torchrun's, where the job has no number. */
int dist__scheduler_port(const struct dist__scheduler *scheduler);

#endif
