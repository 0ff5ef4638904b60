/*
 * launch.h - an operation in MPI's words: its requests, and the memory that
 * they need besides the tensors'. Private to realbackend/mpi/.
 */
#ifndef LOCKSTEP_MPI_LAUNCH_H
#define LOCKSTEP_MPI_LAUNCH_H

#include "realbackend/mpi/library.h"

/* A communicator as its rank sees it. */
struct dist__mpi_comm {
	struct dist__mpi *mpi;
	uintptr_t handle;
	int rank, world_size;
	struct dist_message *text; /* where failures are described */
};

/* What an operation has under way. Zeroed at first. */
struct dist__mpi_launch {
	bool blocks; /* the caller's: all ranks wait in it, in MPI itself */
	uintptr_t *requests;
	size_t num_requests, num_done;
	struct dist__mpi_copy *copies; /* of tensors, newest first */
};

/*
 * dist__mpi_launch begins op, whose peer and tag are those of the message if it
 * is one. Errors: IO (of MPI), UNSUPPORTED (more elements than MPI counts),
 * NO_MEMORY; dist__mpi_leave() must follow either way. The caller holds the
 * library's mutex, here and below.
 */
enum dist_error dist__mpi_launch(struct dist__mpi_launch *launch,
				 const struct dist__mpi_comm *comm,
				 const struct dist__op *op, int peer, int tag);

/* dist__mpi_is_short returns whether op is one call of MPI, which for a rank of
 * a group of world_size takes no longer than what that many bytes take. */
bool dist__mpi_is_short(const struct dist__op *op, int world_size);

/* dist__mpi_look stores in *ended whether all is through; then the tensors are
 * as dist.h says. Errors: IO. */
enum dist_error dist__mpi_look(struct dist__mpi_launch *launch,
			       const struct dist__mpi_comm *comm,
			       const struct dist__op *op, bool *ended);

/* dist__mpi_leave frees what is left. */
void dist__mpi_leave(struct dist__mpi_launch *launch);

#endif
