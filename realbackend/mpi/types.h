/*
 * types.h - tensors' types and reduce ops as MPI's: its own where it has them
 * and means the same, ours elsewhere. Private to realbackend/mpi/.
 */
#ifndef LOCKSTEP_MPI_TYPES_H
#define LOCKSTEP_MPI_TYPES_H

#include "realbackend/mpi/library.h"

/* dist__mpi_types_make makes ours, once; the library is begun. Errors: IO, in
 * text. */
enum dist_error dist__mpi_types_make(const struct dist__mpi *mpi,
				     struct dist_message *text);

/* dist__mpi_types_free frees them, before the library ends. */
void dist__mpi_types_free(const struct dist__mpi *mpi);

/* dist__mpi_type returns the type that an element travels as. */
uintptr_t dist__mpi_type(enum dist_dtype dtype);

/* dist__mpi_op returns the op that combines elements of dtype: AVG and
 * PREMUL_SUM add. */
uintptr_t dist__mpi_op(const struct dist__mpi *mpi, enum dist_reduce_op op,
		       enum dist_dtype dtype);

#endif
