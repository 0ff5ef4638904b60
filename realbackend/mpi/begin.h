/*
 * begin.h - beginning and ending MPI in this process, whoever started it.
 * Private to realbackend/mpi/.
 *
 * A process that mpirun started finds its peers by mpirun. Elsewhere they find
 * each other over our own messages: MPI is told that there is a process manager
 * which speaks PMI-1 (simple_pmi.c in MPICH; Open MPI's component "flux", up to
 * version 4), and that is a thread of the rank.
 */
#ifndef LOCKSTEP_MPI_BEGIN_H
#define LOCKSTEP_MPI_BEGIN_H

#include "realbackend/mpi/library.h"

/* dist__mpi_begin begins MPI as the rank of place, whose transport it uses
 * until dist__mpi_end(). Errors: UNAVAILABLE, in message. */
enum dist_error dist__mpi_begin(struct dist__mpi *mpi,
				const struct dist__place *place,
				struct dist_message *message);

/* dist__mpi_has_room returns whether there is a processor for each rank of this
 * node: else who waits in MPI must let the others have it. */
bool dist__mpi_has_room(const struct dist__place *place);

/* dist__mpi_end ends it with all others if all is well: the last call of MPI,
 * unless the program began it itself. */
void dist__mpi_end(struct dist__mpi *mpi, bool is_well);

#endif
