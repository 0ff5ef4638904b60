/*
 * types.h - MPI types and ops for tensors: MPI's own if it has them with the
 * same meaning, else ours. Private to realbackend/mpi/.
 */
#ifndef LOCKSTEP_MPI_TYPES_H
#define LOCKSTEP_MPI_TYPES_H

#include "realbackend/mpi/library.h"

/* dist__mpi_types_make makes our types and ops, once, after MPI has begun.
 * Errors: IO, with text. */
enum dist_error dist__mpi_types_make(const struct dist__mpi *mpi,
				     struct dist_message *text);

/* dist__mpi_types_free frees them before MPI ends. */
void dist__mpi_types_free(const struct dist__mpi *mpi);

/* dist__mpi_type returns the MPI type of an element of dtype. */
uintptr_t dist__mpi_type(enum dist_dtype dtype);

/* dist__mpi_op returns the MPI op that combines elements of dtype: AVG and
 * PREMUL_SUM add. */
uintptr_t dist__mpi_op(const struct dist__mpi *mpi, enum dist_reduce_op op,
		       enum dist_dtype dtype);

#endif
