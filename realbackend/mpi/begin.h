/*
 * begin.h - begins and ends MPI in this process, with or without mpirun.
 * Private to realbackend/mpi/.
 *
 * A process started by mpirun finds its peers through mpirun. Other processes
 * find each other over our own messages: MPI is given a process manager that
 * speaks PMI-1 (simple_pmi.c in MPICH; Open MPI's component "flux", up to
 * version 4), and that is a thread of the rank.
 */
#ifndef LOCKSTEP_MPI_BEGIN_H
#define LOCKSTEP_MPI_BEGIN_H

#include "realbackend/mpi/library.h"

/* dist__mpi_begin begins MPI as the rank of place, whose transport it uses
 * until dist__mpi_end(). Errors: UNAVAILABLE, see message. */
enum dist_error dist__mpi_begin(struct dist__mpi *mpi,
				const struct dist__place *place,
				struct dist_message *message);

/* dist__mpi_has_room returns whether each rank of this node has a processor: if
 * not, a rank that waits in MPI must yield it. */
bool dist__mpi_has_room(const struct dist__place *place);

/* dist__mpi_end ends MPI, together with all ranks if is_well: the last call of
 * MPI, unless the program began MPI itself. */
void dist__mpi_end(struct dist__mpi *mpi, bool is_well);

#endif
