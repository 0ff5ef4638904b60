/*
 * device.h - the GPU of this rank: which one, its memory, and busy loops on it.
 * Private to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_DEVICE_H
#define LOCKSTEP_NCCL_DEVICE_H

#include "core/backend.h"
#include "realbackend/nccl/libraries.h"

struct dist__device {
	struct dist__libraries libraries;
	int index, count;           /* device `index` of `count` */
	int local_rank;             /* of the process */
	struct CUstream_st *copies; /* nothing in it waits for a peer */
	struct CUstream_st *work;   /* of dist_compute() */
	struct CUkern_st *spin;     /* NULL: the runtime cannot load it */
	struct dist__cuda_uuid gpu; /* zeros: not known */
};

/* dist__device_probe loads the libraries and looks for a device. Afterwards the
 * process has a driver that does not survive a fork. Errors: UNAVAILABLE; why
 * says what was looked for and what was found. */
enum dist_error dist__device_probe(struct dist__libraries *l, int *count,
				   struct dist_message *why);

/*
 * dist__device_open assigns the process its device, number local_rank modulo
 * their count, and returns it: the same in every call, valid for ever. NULL:
 * see why. Makes it the current device of the calling thread.
 */
const struct dist__device *dist__device_open(int local_rank,
					     struct dist_message *why);

/* dist__device_of returns device i of num that the process has in an operation
 * on several: number (local_rank * num + i) modulo their count; the same in
 * every call, valid for ever. It can be used for memory, copies and streams.
 * NULL: see why. Changes the current device. */
const struct dist__device *dist__device_of(const struct dist__device *own,
					   int num, int i,
					   struct dist_message *why);

/* dist__device_use makes it the current device of the calling thread. */
void dist__device_use(const struct dist__device *device);

/* dist__device_holds returns whether memory is the device's, or managed. */
bool dist__device_holds(const struct dist__device *device, const void *memory);

/* dist__device_copy copies in any direction and waits for the end. Errors:
 * IO. */
enum dist_error dist__device_copy(const struct dist__device *device, void *to,
				  const void *from, size_t bytes);

/* dist__device_borrow and dist__device_return allocate and free memory for one
 * operation, without waiting for the device. Errors: NO_MEMORY, IO. */
enum dist_error dist__device_borrow(const struct dist__device *device,
				    size_t bytes, void **memory);
void dist__device_return(const struct dist__device *device, void *memory);

/* dist__device_spin keeps the device busy and waits for the end; false: this
 * runtime cannot, and nothing was done. Errors in *error: IO. */
bool dist__device_spin(const struct dist__device *device, int64_t duration_ns,
		       enum dist_error *error);

/* dist__cuda_error returns the error for a status of the runtime. */
enum dist_error dist__cuda_error(unsigned status);

/* Implements the public dist_device_ functions. */
extern const struct dist__memory dist__device_memory;

#endif
