/* group.h - a back end over MPI for one group. Private to realbackend/mpi/. */
#ifndef LOCKSTEP_MPI_GROUP_H
#define LOCKSTEP_MPI_GROUP_H

#include "realbackend/mpi/library.h"

/* dist__mpi_backend_new is the world's backend_new, on mpi, which has begun
 * with the ranks of the job. */
enum dist_error dist__mpi_backend_new(struct dist__mpi *mpi,
				      const struct dist__place *place,
				      const struct dist__members *members,
				      struct dist__backend **backend,
				      struct dist_message *message);

#endif
