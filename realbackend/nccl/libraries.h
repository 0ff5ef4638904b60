/*
 * libraries.h - NCCL and the CUDA runtime, loaded when a rank needs them, so
 * that one binary runs with and without them.
 *
 * Only what is called is declared here: building needs none of their headers.
 * If these are installed, tests/nccl/header_check.c compares the declarations
 * with them. Their enums are unsigned here, the compiler's type of an enum
 * without negative values.
 */
#ifndef LOCKSTEP_NCCL_LIBRARIES_H
#define LOCKSTEP_NCCL_LIBRARIES_H

#include "lockstep/dist.h"

struct ncclComm;
struct CUstream_st;
struct CUevent_st;
struct CUlib_st;
struct CUkern_st;

/* The result of ncclGetUniqueId(): by it the ranks of a communicator meet. */
struct dist__nccl_id {
	char bytes[128];
};

/* The head of ncclConfig_t, as of its version 2.14. NCCL reads no more than
 * size and version allow. */
struct dist__nccl_config {
	size_t size;
	unsigned magic;
	unsigned version;
	int blocking;
};

/* From this version on several ranks may use one GPU, if the environment has
 * DIST__NCCL_SHARING=1 (NCCL's user guide, "Environment Variables"; its init.cc
 * reads it when it makes a communicator). Earlier versions refuse it. */
#define DIST__NCCL_SHARES  23000
#define DIST__NCCL_SHARING "NCCL_MULTI_RANK_GPU_ENABLE"

#define DIST__NCCL_CONFIG_MAGIC   0xcafebeefu
#define DIST__NCCL_CONFIG_VERSION 21400u

/* ncclResult_t */
#define DIST__NCCL_SUCCESS     0u
#define DIST__NCCL_IN_PROGRESS 7u

/* ncclDataType_t and ncclRedOp_t. */
enum dist__nccl_type {
	DIST__NCCL_INT8 = 0,
	DIST__NCCL_UINT8 = 1,
	DIST__NCCL_INT32 = 2,
	DIST__NCCL_UINT32 = 3,
	DIST__NCCL_INT64 = 4,
	DIST__NCCL_UINT64 = 5,
	DIST__NCCL_FLOAT16 = 6,
	DIST__NCCL_FLOAT32 = 7,
	DIST__NCCL_FLOAT64 = 8,
	DIST__NCCL_BFLOAT16 = 9
};

/* ncclScalarResidence_t */
#define DIST__NCCL_SCALAR_HOST_IMMEDIATE 1u

enum dist__nccl_op {
	DIST__NCCL_SUM = 0,
	DIST__NCCL_PROD = 1,
	DIST__NCCL_MAX = 2,
	DIST__NCCL_MIN = 3,
	DIST__NCCL_AVG = 4
};

#define DIST__LIBRARY_MEMBER(type, name, ...) type (*name)(__VA_ARGS__);

/* Each function is called "nccl" and the member's name. NCCL has all of them
 * since 2.14. */
#define DIST__NCCL_FUNCTIONS(X)                                                \
	X(unsigned, GetVersion, int *version)                                  \
	X(unsigned, GetUniqueId, struct dist__nccl_id *id)                     \
	X(const char *, GetErrorString, unsigned result)                       \
	X(const char *, GetLastError, struct ncclComm *comm)                   \
	X(unsigned, CommInitRankConfig, struct ncclComm **comm, int size,      \
	  struct dist__nccl_id id, int rank, struct dist__nccl_config *config) \
	X(unsigned, CommFinalize, struct ncclComm *comm)                       \
	X(unsigned, CommDestroy, struct ncclComm *comm)                        \
	X(unsigned, CommAbort, struct ncclComm *comm)                          \
	X(unsigned, CommGetAsyncError, struct ncclComm *comm,                  \
	  unsigned *result)                                                    \
	X(unsigned, GroupStart, void)                                          \
	X(unsigned, GroupEnd, void)                                            \
	X(unsigned, RedOpCreatePreMulSum, unsigned *op, void *factor,          \
	  unsigned type, unsigned residence, struct ncclComm *comm)            \
	X(unsigned, RedOpDestroy, unsigned op, struct ncclComm *comm)          \
	X(unsigned, AllReduce, const void *in, void *out, size_t count,        \
	  unsigned type, unsigned op, struct ncclComm *comm,                   \
	  struct CUstream_st *stream)                                          \
	X(unsigned, Reduce, const void *in, void *out, size_t count,           \
	  unsigned type, unsigned op, int root, struct ncclComm *comm,         \
	  struct CUstream_st *stream)                                          \
	X(unsigned, Broadcast, const void *in, void *out, size_t count,        \
	  unsigned type, int root, struct ncclComm *comm,                      \
	  struct CUstream_st *stream)                                          \
	X(unsigned, AllGather, const void *in, void *out, size_t count,        \
	  unsigned type, struct ncclComm *comm, struct CUstream_st *stream)    \
	X(unsigned, ReduceScatter, const void *in, void *out, size_t count,    \
	  unsigned type, unsigned op, struct ncclComm *comm,                   \
	  struct CUstream_st *stream)                                          \
	X(unsigned, Send, const void *in, size_t count, unsigned type,         \
	  int peer, struct ncclComm *comm, struct CUstream_st *stream)         \
	X(unsigned, Recv, void *out, size_t count, unsigned type, int peer,    \
	  struct ncclComm *comm, struct CUstream_st *stream)

struct dist__nccl_functions {
	DIST__NCCL_FUNCTIONS(DIST__LIBRARY_MEMBER)
};

/* dim3 */
struct dist__cuda_grid {
	unsigned x, y, z;
};

/* The head of struct cudaPointerAttributes, and space for the rest. */
struct dist__cuda_attributes {
	unsigned type;
	int device;
	void *pointers[2];
	long reserved[16];
};

/* A GPU's unique number; zeros: not known. */
struct dist__cuda_uuid {
	char bytes[16];
};

/* The head of struct cudaDeviceProp, and space for the rest. */
struct dist__cuda_properties {
	char name[256];
	struct dist__cuda_uuid uuid;
	char reserved[4096];
};

/* cudaError_t, enum cudaMemoryType, enum cudaMemcpyKind and flags. */
#define DIST__CUDA_SUCCESS             0u
#define DIST__CUDA_ERROR_MEMORY        2u
#define DIST__CUDA_NOT_READY           600u
#define DIST__CUDA_TYPE_DEVICE         2u
#define DIST__CUDA_TYPE_MANAGED        3u
#define DIST__CUDA_COPY_DEFAULT        4u
#define DIST__CUDA_STREAM_NON_BLOCKING 1u
#define DIST__CUDA_EVENT_NO_TIMING     2u

/* Likewise, called "cuda" and the name. CUDA has all of them since 11.2. */
#define DIST__CUDA_FUNCTIONS(X)                                                \
	X(const char *, GetErrorString, unsigned error)                        \
	X(unsigned, GetLastError, void)                                        \
	X(unsigned, RuntimeGetVersion, int *version)                           \
	X(unsigned, DriverGetVersion, int *version)                            \
	X(unsigned, GetDeviceCount, int *count)                                \
	X(unsigned, SetDevice, int device)                                     \
	X(unsigned, GetDeviceProperties,                                       \
	  struct dist__cuda_properties *properties, int device)                \
	X(unsigned, Malloc, void **memory, size_t bytes)                       \
	X(unsigned, Free, void *memory)                                        \
	X(unsigned, MallocAsync, void **memory, size_t bytes,                  \
	  struct CUstream_st *stream)                                          \
	X(unsigned, FreeAsync, void *memory, struct CUstream_st *stream)       \
	X(unsigned, MemcpyAsync, void *to, const void *from, size_t bytes,     \
	  unsigned kind, struct CUstream_st *stream)                           \
	X(unsigned, PointerGetAttributes,                                      \
	  struct dist__cuda_attributes *attributes, const void *memory)        \
	X(unsigned, StreamCreateWithFlags, struct CUstream_st **stream,        \
	  unsigned flags)                                                      \
	X(unsigned, StreamSynchronize, struct CUstream_st *stream)             \
	X(unsigned, StreamDestroy, struct CUstream_st *stream)                 \
	X(unsigned, EventCreateWithFlags, struct CUevent_st **event,           \
	  unsigned flags)                                                      \
	X(unsigned, EventRecord, struct CUevent_st *event,                     \
	  struct CUstream_st *stream)                                          \
	X(unsigned, EventQuery, struct CUevent_st *event)                      \
	X(unsigned, EventDestroy, struct CUevent_st *event)

struct dist__cuda_functions {
	DIST__CUDA_FUNCTIONS(DIST__LIBRARY_MEMBER)
};

/* Functions of CUDA 12.8: all NULL if one is missing. */
#define DIST__KERNEL_FUNCTIONS(X)                                              \
	X(unsigned, LibraryLoadData, struct CUlib_st **library,                \
	  const void *code, unsigned *options, void **option_values,           \
	  unsigned num_options, unsigned *library_options,                     \
	  void **library_option_values, unsigned num_library_options)          \
	X(unsigned, LibraryGetKernel, struct CUkern_st **kernel,               \
	  struct CUlib_st *library, const char *name)                          \
	X(unsigned, LaunchKernel, const void *kernel,                          \
	  struct dist__cuda_grid grid, struct dist__cuda_grid block,           \
	  void **arguments, size_t shared, struct CUstream_st *stream)

struct dist__kernel_functions {
	DIST__KERNEL_FUNCTIONS(DIST__LIBRARY_MEMBER)
};

struct dist__libraries {
	struct dist__nccl_functions nccl;
	struct dist__cuda_functions cuda;
	struct dist__kernel_functions kernel;
	int nccl_version;    /* 22809 is 2.28.9 */
	char nccl_text[160]; /* "NCCL 2.28.9 (libnccl.so.2)" */
	char cuda_text[160]; /* "CUDA 13.0 (libcudart.so.13)" */
};

/*
 * dist__libraries_load fills *l; nothing is ever unloaded.
 * LOCKSTEP_NCCL_LIBRARY and LOCKSTEP_CUDART_LIBRARY name files to load instead
 * of a search. Errors: UNAVAILABLE; why says what was looked for and what was
 * found.
 */
enum dist_error dist__libraries_load(struct dist__libraries *l,
				     struct dist_message *why);

#endif
