/* mpi.h - the MPIs that the tests run over. */
#ifndef LOCKSTEP_TESTS_MPI_MPI_H
#define LOCKSTEP_TESTS_MPI_MPI_H

/* What LOCKSTEP_MPI may say, ended by NULL. */
extern const char *const mpi_libraries[];

struct mpi_case {
	int library;    /* in that table */
	int world_size; /* or the grouping, the level */
};

/* mpi_use has the jobs of this process use the library, or skips the test where
 * it is not installed or its version does not begin without an mpirun. */
void mpi_use(const char *library);

#endif
