/*
 * header_check.c - compares our declarations of NCCL and the CUDA runtime with
 * their headers, if installed. Compiles to nothing.
 */
#include "realbackend/nccl/libraries.h"

#if defined(__has_include)
#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#define HAVE_HEADERS
#endif
#endif

#ifdef HAVE_HEADERS
#include <cuda_runtime.h>
#include <nccl.h>

/* A type of the header is known to us by another name, or the same. */
#define IS_SAME(table, member, function)                                       \
	_Generic(((struct dist__libraries *)0)->table.member,                  \
		 __typeof__(&(function)) : 1, default : 0)
#define SAME_NCCL(name)                                                        \
	_Static_assert(IS_SAME(nccl, name, nccl##name), "nccl" #name)
#define SAME_CUDA(name)                                                        \
	_Static_assert(IS_SAME(cuda, name, cuda##name), "cuda" #name)

SAME_NCCL(GetVersion);
SAME_NCCL(GetErrorString);
SAME_NCCL(GetLastError);
SAME_NCCL(CommFinalize);
SAME_NCCL(CommDestroy);
SAME_NCCL(CommAbort);
SAME_NCCL(CommGetAsyncError);
SAME_NCCL(RedOpCreatePreMulSum);
SAME_NCCL(RedOpDestroy);
SAME_NCCL(AllReduce);
SAME_NCCL(Reduce);
SAME_NCCL(Broadcast);
SAME_NCCL(AllGather);
SAME_NCCL(ReduceScatter);
SAME_NCCL(Send);
SAME_NCCL(Recv);
SAME_NCCL(GroupStart);
SAME_NCCL(GroupEnd);

SAME_CUDA(GetErrorString);
SAME_CUDA(GetLastError);
SAME_CUDA(RuntimeGetVersion);
SAME_CUDA(DriverGetVersion);
SAME_CUDA(GetDeviceCount);
SAME_CUDA(SetDevice);
SAME_CUDA(Malloc);
SAME_CUDA(Free);
SAME_CUDA(MallocAsync);
SAME_CUDA(FreeAsync);
SAME_CUDA(MemcpyAsync);
SAME_CUDA(StreamCreateWithFlags);
SAME_CUDA(StreamSynchronize);
SAME_CUDA(StreamDestroy);
SAME_CUDA(EventCreateWithFlags);
SAME_CUDA(EventRecord);
SAME_CUDA(EventQuery);
SAME_CUDA(EventDestroy);

/* Functions that take a structure of which we have a copy: the call must be
 * right with the header's, and the copy be laid out alike. */
_Static_assert(sizeof(ncclGetUniqueId((ncclUniqueId *)0)) == sizeof(unsigned),
	       "ncclGetUniqueId");
_Static_assert(sizeof(ncclUniqueId) == sizeof(struct dist__nccl_id),
	       "ncclUniqueId");
_Static_assert(sizeof(ncclCommInitRankConfig((ncclComm_t *)0, 1,
					     (ncclUniqueId){{0}}, 0,
					     (ncclConfig_t *)0)) ==
		       sizeof(unsigned),
	       "ncclCommInitRankConfig");
#define SAME_FIELD(ours, theirs, field)                                        \
	_Static_assert(offsetof(ours, field) == offsetof(theirs, field), #field)
SAME_FIELD(struct dist__nccl_config, ncclConfig_t, size);
SAME_FIELD(struct dist__nccl_config, ncclConfig_t, magic);
SAME_FIELD(struct dist__nccl_config, ncclConfig_t, version);
SAME_FIELD(struct dist__nccl_config, ncclConfig_t, blocking);
SAME_FIELD(struct dist__cuda_attributes, struct cudaPointerAttributes, type);
SAME_FIELD(struct dist__cuda_attributes, struct cudaPointerAttributes, device);
_Static_assert(sizeof(struct dist__cuda_attributes) >=
		       sizeof(struct cudaPointerAttributes),
	       "cudaPointerAttributes");
SAME_FIELD(struct dist__cuda_properties, struct cudaDeviceProp, name);
SAME_FIELD(struct dist__cuda_properties, struct cudaDeviceProp, uuid);
_Static_assert(sizeof(struct dist__cuda_properties) >=
		       sizeof(struct cudaDeviceProp),
	       "cudaDeviceProp");
_Static_assert(sizeof(cudaGetDeviceProperties((struct cudaDeviceProp *)0, 0)) ==
		       sizeof(unsigned),
	       "cudaGetDeviceProperties");
_Static_assert(sizeof(struct dist__cuda_grid) == sizeof(struct dim3), "dim3");
_Static_assert(
	sizeof(cudaPointerGetAttributes((struct cudaPointerAttributes *)0,
					(const void *)0)) == sizeof(unsigned),
	"cudaPointerGetAttributes");
_Static_assert(sizeof(cudaLaunchKernel((const void *)0, (struct dim3){1, 1, 1},
				       (struct dim3){1, 1, 1}, (void **)0,
				       (size_t)0, (cudaStream_t)0)) ==
		       sizeof(unsigned),
	       "cudaLaunchKernel");
#if CUDART_VERSION >= 12080
_Static_assert(IS_SAME(kernel, LibraryGetKernel, cudaLibraryGetKernel),
	       "cudaLibraryGetKernel");
_Static_assert(sizeof(cudaLibraryLoadData((cudaLibrary_t *)0, (const void *)0,
					  (enum cudaJitOption *)0, (void **)0,
					  0u, (enum cudaLibraryOption *)0,
					  (void **)0, 0u)) == sizeof(unsigned),
	       "cudaLibraryLoadData");
#endif

#define SAME_VALUE(ours, theirs)                                               \
	_Static_assert((unsigned)(ours) == (unsigned)(theirs), #theirs)
SAME_VALUE(DIST__NCCL_SUCCESS, ncclSuccess);
SAME_VALUE(DIST__NCCL_IN_PROGRESS, ncclInProgress);
SAME_VALUE(DIST__NCCL_INT8, ncclInt8);
SAME_VALUE(DIST__NCCL_UINT8, ncclUint8);
SAME_VALUE(DIST__NCCL_INT32, ncclInt32);
SAME_VALUE(DIST__NCCL_UINT32, ncclUint32);
SAME_VALUE(DIST__NCCL_INT64, ncclInt64);
SAME_VALUE(DIST__NCCL_UINT64, ncclUint64);
SAME_VALUE(DIST__NCCL_FLOAT16, ncclFloat16);
SAME_VALUE(DIST__NCCL_FLOAT32, ncclFloat32);
SAME_VALUE(DIST__NCCL_FLOAT64, ncclFloat64);
SAME_VALUE(DIST__NCCL_BFLOAT16, ncclBfloat16);
SAME_VALUE(DIST__NCCL_SCALAR_HOST_IMMEDIATE, ncclScalarHostImmediate);
SAME_VALUE(DIST__NCCL_SUM, ncclSum);
SAME_VALUE(DIST__NCCL_PROD, ncclProd);
SAME_VALUE(DIST__NCCL_MAX, ncclMax);
SAME_VALUE(DIST__NCCL_MIN, ncclMin);
SAME_VALUE(DIST__NCCL_AVG, ncclAvg);
SAME_VALUE(DIST__NCCL_CONFIG_VERSION, NCCL_VERSION(2, 14, 0));
SAME_VALUE(DIST__NCCL_SHARES, NCCL_VERSION(2, 30, 0));
SAME_VALUE(DIST__CUDA_SUCCESS, cudaSuccess);
SAME_VALUE(DIST__CUDA_ERROR_MEMORY, cudaErrorMemoryAllocation);
SAME_VALUE(DIST__CUDA_NOT_READY, cudaErrorNotReady);
SAME_VALUE(DIST__CUDA_TYPE_DEVICE, cudaMemoryTypeDevice);
SAME_VALUE(DIST__CUDA_TYPE_MANAGED, cudaMemoryTypeManaged);
SAME_VALUE(DIST__CUDA_COPY_DEFAULT, cudaMemcpyDefault);
SAME_VALUE(DIST__CUDA_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
SAME_VALUE(DIST__CUDA_EVENT_NO_TIMING, cudaEventDisableTiming);
#endif
