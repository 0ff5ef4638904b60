/* smpi.c - an all-reduce under SMPI, SimGrid's simulation of MPI programs,
 * which bench/smpi.sh builds by smpicc and times: prints the simulated seconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, rank;
	double seconds;
	float *in, *out;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	/* One memory for the tensors of all ranks: nobody looks at them. */
	in = SMPI_SHARED_MALLOC((size_t)count * sizeof *in);
	out = SMPI_SHARED_MALLOC((size_t)count * sizeof *out);
	seconds = MPI_Wtime();
	MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	seconds = MPI_Wtime() - seconds;
	if (rank == 0)
		printf("%.9f\n", seconds);
	SMPI_SHARED_FREE(in);
	SMPI_SHARED_FREE(out);
	MPI_Finalize();
	return 0;
}
