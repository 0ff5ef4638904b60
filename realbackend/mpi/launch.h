/*
 * launch.h - calls MPI for an operation: its requests, and the memory that they
 * need besides the tensors. Private to realbackend/mpi/.
 */
#ifndef LOCKSTEP_MPI_LAUNCH_H
#define LOCKSTEP_MPI_LAUNCH_H

#include "realbackend/mpi/library.h"

/* A communicator, on one rank. */
struct dist__mpi_comm {
	struct dist__mpi *mpi;
	uintptr_t handle;
	int rank, world_size;
	struct dist_message *text; /* of failures */
};

/* An operation in flight. Zeroed at first. */
struct dist__mpi_launch {
	bool blocks; /* set by the caller: all ranks block in MPI itself */
	uintptr_t *requests;
	size_t num_requests, num_done;
	struct dist__mpi_copy *copies; /* of tensors, newest first */
};

/*
 * dist__mpi_launch begins op; peer and tag are those of a message. Errors: IO
 * (of MPI), UNSUPPORTED (more elements than MPI counts), NO_MEMORY; call
 * dist__mpi_leave() in any case. The caller holds the library's mutex, here and
 * below.
 */
enum dist_error dist__mpi_launch(struct dist__mpi_launch *launch,
				 const struct dist__mpi_comm *comm,
				 const struct dist__op *op, int peer, int tag);

/* dist__mpi_is_short returns whether op is one call of MPI with so few bytes,
 * in a group of world_size ranks, that it may block. */
bool dist__mpi_is_short(const struct dist__op *op, int world_size);

/* dist__mpi_look stores in *ended whether all is complete; then the tensors are
 * as dist.h says. Errors: IO. */
enum dist_error dist__mpi_look(struct dist__mpi_launch *launch,
			       const struct dist__mpi_comm *comm,
			       const struct dist__op *op, bool *ended);

/* dist__mpi_leave frees the rest of launch. */
void dist__mpi_leave(struct dist__mpi_launch *launch);

#endif
