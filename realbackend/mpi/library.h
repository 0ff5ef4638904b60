/*
 * library.h - MPI, found at run time: Open MPI or MPICH. Private to
 * realbackend/mpi/.
 *
 * Before MPI 5 there is no common binary interface. The two differ in the width
 * of a handle and in their constants. So functions are declared with handles as
 * wide as a pointer, which the calling conventions of Linux on x86-64 and ARM64
 * pass like an int; and a stored handle is a zeroed uintptr_t, whose lower half
 * MPICH fills. Meanings, arguments and results are those of MPI 3.1.
 */
#ifndef LOCKSTEP_MPI_LIBRARY_H
#define LOCKSTEP_MPI_LIBRARY_H

#include <pthread.h>

#include "core/backend.h"

/* Levels of MPI_Init_thread, the same in both. */
enum {
	DIST__MPI_SINGLE,
	DIST__MPI_FUNNELED,
	DIST__MPI_SERIALIZED,
	DIST__MPI_MULTIPLE
};

/* Handles of MPICH, from its mpi.h: the same since 3.1, by the ABI that
 * MVAPICH, Intel's and Cray's MPI share. */
#define DIST__MPICH_COMM_WORLD    0x44000000u
#define DIST__MPICH_ERRORS_RETURN 0x54000001u
#define DIST__MPICH_FLOAT         0x4c00040au
#define DIST__MPICH_DOUBLE        0x4c00080bu
#define DIST__MPICH_INT8          0x4c000137u
#define DIST__MPICH_INT16         0x4c000238u
#define DIST__MPICH_INT32         0x4c000439u
#define DIST__MPICH_INT64         0x4c00083au
#define DIST__MPICH_UINT8         0x4c00013bu
#define DIST__MPICH_UINT16        0x4c00023cu
#define DIST__MPICH_UINT32        0x4c00043du
#define DIST__MPICH_UINT64        0x4c00083eu
#define DIST__MPICH_MAX           0x58000001u
#define DIST__MPICH_MIN           0x58000002u
#define DIST__MPICH_SUM           0x58000003u
#define DIST__MPICH_PROD          0x58000004u
#define DIST__MPICH_BAND          0x58000006u
#define DIST__MPICH_BOR           0x58000008u
#define DIST__MPICH_BXOR          0x5800000au

/* type points to a handle, as wide as the library's. */
typedef void dist__mpi_combine(void *in, void *inout, int *len, void *type);

/* Each is called "MPI_" and its name, and returns an int. */
#define DIST__MPI_FUNCTIONS(X)                                                 \
	X(Init_thread, int *argc, char ***argv, int wanted, int *got)          \
	X(Initialized, int *flag)                                              \
	X(Finalized, int *flag)                                                \
	X(Query_thread, int *level)                                            \
	X(Finalize, void)                                                      \
	X(Get_library_version, char *text, int *len)                           \
	X(Error_string, int code, char *text, int *len)                        \
	X(Comm_rank, uintptr_t comm, int *rank)                                \
	X(Comm_size, uintptr_t comm, int *size)                                \
	X(Comm_group, uintptr_t comm, uintptr_t *group)                        \
	X(Group_incl, uintptr_t group, int n, const int *ranks,                \
	  uintptr_t *made)                                                     \
	X(Group_free, uintptr_t *group)                                        \
	X(Comm_create_group, uintptr_t comm, uintptr_t group, int tag,         \
	  uintptr_t *made)                                                     \
	X(Comm_set_errhandler, uintptr_t comm, uintptr_t handler)              \
	X(Type_contiguous, int count, uintptr_t type, uintptr_t *made)         \
	X(Type_commit, uintptr_t *type)                                        \
	X(Type_free, uintptr_t *type)                                          \
	X(Op_create, dist__mpi_combine *combine, int commutes,                 \
	  uintptr_t *made)                                                     \
	X(Op_free, uintptr_t *op)                                              \
	X(Test, uintptr_t *request, int *flag, void *status)                   \
	X(Isend, const void *data, int count, uintptr_t type, int to, int tag, \
	  uintptr_t comm, uintptr_t *request)                                  \
	X(Irecv, void *data, int count, uintptr_t type, int from, int tag,     \
	  uintptr_t comm, uintptr_t *request)                                  \
	X(Allreduce, const void *in, void *out, int count, uintptr_t type,     \
	  uintptr_t op, uintptr_t comm)                                        \
	X(Reduce, const void *in, void *out, int count, uintptr_t type,        \
	  uintptr_t op, int root, uintptr_t comm)                              \
	X(Bcast, void *data, int count, uintptr_t type, int root,              \
	  uintptr_t comm)                                                      \
	X(Allgather, const void *in, int num_in, uintptr_t in_type, void *out, \
	  int num_out, uintptr_t out_type, uintptr_t comm)                     \
	X(Reduce_scatter_block, const void *in, void *out, int count,          \
	  uintptr_t type, uintptr_t op, uintptr_t comm)                        \
	X(Alltoall, const void *in, int num_in, uintptr_t in_type, void *out,  \
	  int num_out, uintptr_t out_type, uintptr_t comm)                     \
	X(Iallreduce, const void *in, void *out, int count, uintptr_t type,    \
	  uintptr_t op, uintptr_t comm, uintptr_t *request)                    \
	X(Ireduce, const void *in, void *out, int count, uintptr_t type,       \
	  uintptr_t op, int root, uintptr_t comm, uintptr_t *request)          \
	X(Ibcast, void *data, int count, uintptr_t type, int root,             \
	  uintptr_t comm, uintptr_t *request)                                  \
	X(Iallgather, const void *in, int num_in, uintptr_t in_type,           \
	  void *out, int num_out, uintptr_t out_type, uintptr_t comm,          \
	  uintptr_t *request)                                                  \
	X(Ireduce_scatter_block, const void *in, void *out, int count,         \
	  uintptr_t type, uintptr_t op, uintptr_t comm, uintptr_t *request)    \
	X(Ialltoall, const void *in, int num_in, uintptr_t in_type, void *out, \
	  int num_out, uintptr_t out_type, uintptr_t comm, uintptr_t *request)

#define DIST__MPI_MEMBER(name, ...) int (*name)(__VA_ARGS__);
struct dist__mpi_functions {
	DIST__MPI_FUNCTIONS(DIST__MPI_MEMBER)
};

/* Constants with different values; all are handles except the last three. */
struct dist__mpi_constants {
	uintptr_t comm_world, errors_return;
	/* 0: none, or its meaning is not ours. */
	uintptr_t types[DIST_NUM_DTYPES];
	uintptr_t ops[DIST_NUM_REDUCE_OPS];
	void *in_place, *status_ignore;
	size_t handle_bytes;
};

struct dist__mpi {
	const char *name; /* "Open MPI" or "MPICH" */
	bool is_openmpi;
	char version[64];
	struct dist__mpi_functions call;
	struct dist__mpi_constants is;

	/* The fields below are set when MPI has begun. From then on all calls
	 * are made under the mutex: MPI_THREAD_SERIALIZED. */
	pthread_mutex_t mutex;
	int threads;      /* the level in force */
	bool is_poisoned; /* a group failed with operations in flight, and their
			   * memory went back to callers: no more calls */
};

/* dist__mpi_is_set_well returns whether LOCKSTEP_MPI and LOCKSTEP_MPI_THREADS,
 * if set, have legal values; else why says which has not. */
bool dist__mpi_is_set_well(struct dist_message *why);

/* dist__mpi_load returns the library, the same in every call: the one in the
 * process, else that of the mpirun that started it, else that of LOCKSTEP_MPI,
 * else Open MPI, else MPICH. NULL: why says what was looked for. */
struct dist__mpi *dist__mpi_load(struct dist_message *why);

/* dist__mpi_launched returns whether mpirun started this process as a rank, and
 * not our launcher under mpirun. */
bool dist__mpi_launched(void);

/* dist__mpi_check writes a message about a failed call to text. Errors: IO. */
enum dist_error dist__mpi_check(const struct dist__mpi *mpi,
				struct dist_message *text, const char *call,
				int status);

#endif
