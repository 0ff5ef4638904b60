/*
 * cudart.h - what the two doubles share beyond the public functions of the
 * CUDA runtime.
 *
 * The double keeps the "memory of the device" out of the program's reach: a
 * pointer that cudaMalloc() gave points to pages that may not be touched, and
 * only kernels and copies find what lies behind it. So a library that reads or
 * writes a device tensor itself dies, and one that gives host memory to a
 * kernel gets the error that a GPU gives.
 *
 * The environment of a process says what it finds:
 * DOUBLE_DEVICES	number of devices (8)
 * DOUBLE_CUDA_ERROR	what cudaGetDeviceCount() answers instead
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_NCCL_DOUBLE_CUDART_H
#define LOCKSTEP_TESTS_SUPPORT_NCCL_DOUBLE_CUDART_H

#include <stdbool.h>
#include <stddef.h>

struct CUstream_st;

/* double_reach returns where bytes of device's memory can be touched by this
 * process; NULL: they are not that device's, and all are faulty from now on. */
void *double_reach(int device, const void *memory, size_t bytes);

/* double_stream_device returns the device that stream was made on. */
int double_stream_device(const struct CUstream_st *stream);

/* double_device returns the calling thread's current device. */
int double_device(void);

/* cudaLaunchHostFunc of the runtime. */
unsigned cudaLaunchHostFunc(struct CUstream_st *stream, void (*run)(void *arg),
			    void *arg);

#endif
