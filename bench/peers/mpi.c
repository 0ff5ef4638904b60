/* mpi.c - the collectives of an MPI: Open MPI and MPICH, by their mpicc. */
#include "bench/peers/peer.h"

#include <signal.h>
#include <unistd.h>

#include <mpi.h>

#define WORLD MPI_COMM_WORLD

struct peer peer_start(int *argc, char ***argv)
{
	struct peer peer;

	MPI_Init(argc, argv);
	MPI_Comm_rank(WORLD, &peer.rank);
	MPI_Comm_size(WORLD, &peer.world_size);
	return peer;
}

bool peer_has(enum peer_collective collective)
{
	(void)collective;
	return true;
}

/* Roots do it in place. */
static void gather_or_scatter(const struct peer *peer,
			      enum peer_collective collective, float *data,
			      float *own, int part)
{
	void *in_place = peer->rank == 0 ? MPI_IN_PLACE : own;

	if (collective == PEER_GATHER)
		MPI_Gather(in_place, part, MPI_FLOAT, data, part, MPI_FLOAT, 0,
			   WORLD);
	else
		MPI_Scatter(data, part, MPI_FLOAT, in_place, part, MPI_FLOAT, 0,
			    WORLD);
}

static void sendrecv(const struct peer *peer, float *data, float *apart,
		     int num)
{
	int size = peer->world_size;

	MPI_Sendrecv(data, num, MPI_FLOAT, (peer->rank + 1) % size, 0, apart,
		     num, MPI_FLOAT, (peer->rank + size - 1) % size, 0, WORLD,
		     MPI_STATUS_IGNORE);
}

void peer_call(const struct peer *peer, enum peer_collective collective,
	       float *data, float *apart, size_t num)
{
	int n = (int)num, part = n / peer->world_size;
	ptrdiff_t own = (ptrdiff_t)part * peer->rank;

	switch (collective) {
	case PEER_ALL_REDUCE:
		MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_FLOAT, MPI_SUM, WORLD);
		break;
	case PEER_BROADCAST:
		MPI_Bcast(data, n, MPI_FLOAT, 0, WORLD);
		break;
	case PEER_REDUCE:
		MPI_Reduce(peer->rank == 0 ? MPI_IN_PLACE : data, data, n,
			   MPI_FLOAT, MPI_SUM, 0, WORLD);
		break;
	case PEER_ALL_GATHER:
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_FLOAT, data, part, MPI_FLOAT,
			      WORLD);
		break;
	case PEER_REDUCE_SCATTER:
		MPI_Reduce_scatter_block(data, apart + own, part, MPI_FLOAT,
					 MPI_SUM, WORLD);
		break;
	case PEER_ALLTOALL:
		MPI_Alltoall(data, part, MPI_FLOAT, apart, part, MPI_FLOAT,
			     WORLD);
		break;
	case PEER_GATHER:
	case PEER_SCATTER:
		gather_or_scatter(peer, collective, data, data + own, part);
		break;
	case PEER_SENDRECV:
		sendrecv(peer, data, apart, n);
		break;
	}
}

void peer_barrier(const struct peer *peer)
{
	(void)peer;
	MPI_Barrier(WORLD);
}

void peer_max(const struct peer *peer, double *values, size_t num)
{
	(void)peer;
	MPI_Allreduce(MPI_IN_PLACE, values, (int)num, MPI_DOUBLE, MPI_MAX,
		      WORLD);
}

static void leave(int number)
{
	(void)number;
	_exit(0);
}

void peer_stop(const struct peer *peer)
{
	(void)peer;
	/* Where ranks outnumber processors MPICH may never come back from here;
	 * what was timed has been printed by now. */
	signal(SIGALRM, leave);
	alarm(2);
	MPI_Finalize();
}
