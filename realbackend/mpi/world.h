/* world.h - the world of real processes over an MPI. */
#ifndef LOCKSTEP_REALBACKEND_MPI_WORLD_H
#define LOCKSTEP_REALBACKEND_MPI_WORLD_H

#include "core/backend.h"

extern const struct dist__world dist__mpi_world;

#endif
