/*
 * header_check.c - compares our constants of MPICH with its header, if that is
 * installed and found as <mpi.h>. Compiles to nothing.
 */
#include "realbackend/mpi/library.h"

#if defined(__has_include)
#if __has_include(<mpi.h>)
#include <mpi.h>
#endif
#endif

#ifdef MPICH_VERSION
#define SAME(ours, theirs)                                                     \
	_Static_assert((unsigned)(ours) == (unsigned)(theirs), #theirs)
SAME(DIST__MPI_FUNNELED, MPI_THREAD_FUNNELED);
SAME(DIST__MPI_SERIALIZED, MPI_THREAD_SERIALIZED);
SAME(DIST__MPICH_COMM_WORLD, MPI_COMM_WORLD);
SAME(DIST__MPICH_ERRORS_RETURN, MPI_ERRORS_RETURN);
SAME(DIST__MPICH_FLOAT, MPI_FLOAT);
SAME(DIST__MPICH_DOUBLE, MPI_DOUBLE);
SAME(DIST__MPICH_INT8, MPI_INT8_T);
SAME(DIST__MPICH_INT16, MPI_INT16_T);
SAME(DIST__MPICH_INT32, MPI_INT32_T);
SAME(DIST__MPICH_INT64, MPI_INT64_T);
SAME(DIST__MPICH_UINT8, MPI_UINT8_T);
SAME(DIST__MPICH_UINT16, MPI_UINT16_T);
SAME(DIST__MPICH_UINT32, MPI_UINT32_T);
SAME(DIST__MPICH_UINT64, MPI_UINT64_T);
SAME(DIST__MPICH_MAX, MPI_MAX);
SAME(DIST__MPICH_MIN, MPI_MIN);
SAME(DIST__MPICH_SUM, MPI_SUM);
SAME(DIST__MPICH_PROD, MPI_PROD);
SAME(DIST__MPICH_BAND, MPI_BAND);
SAME(DIST__MPICH_BOR, MPI_BOR);
SAME(DIST__MPICH_BXOR, MPI_BXOR);
#endif
