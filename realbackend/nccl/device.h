/*
 * device.h - the GPU of this rank: which one, its memory, and keeping it busy.
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
	struct dist__cuda_uuid gpu; /* zeros: the runtime does not say */
};

/* dist__device_probe loads the libraries and looks for a device. It leaves the
 * process with a driver that a fork does not survive. Errors: UNAVAILABLE; why
 * says what was looked for and what was found. */
enum dist_error dist__device_probe(struct dist__libraries *l, int *count,
				   struct dist_message *why);

/*
 * dist__device_open gives the process its device, number local_rank counted
 * around, and returns it: the same at every call, for ever. NULL: why says it.
 * Makes it the current device of the calling thread.
 */
const struct dist__device *dist__device_open(int local_rank,
					     struct dist_message *why);

/* dist__device_of returns device i of num that the process has in an operation
 * of several: number local_rank * num + i, counted around; the same at every
 * call, for ever. It can be used for memory, copies and streams. NULL: why says
 * it. The current device is another afterwards. */
const struct dist__device *dist__device_of(const struct dist__device *own,
					   int num, int i,
					   struct dist_message *why);

/* dist__device_use makes it the current device of the calling thread. */
void dist__device_use(const struct dist__device *device);

/* dist__device_holds returns whether memory is the device's, or comes to it. */
bool dist__device_holds(const struct dist__device *device, const void *memory);

/* dist__device_copy copies in any direction and waits for the end. Errors:
 * IO. */
enum dist_error dist__device_copy(const struct dist__device *device, void *to,
				  const void *from, size_t bytes);

/* dist__device_borrow and dist__device_return are for memory of one operation:
 * they do not wait for what runs on the device. Errors: NO_MEMORY, IO. */
enum dist_error dist__device_borrow(const struct dist__device *device,
				    size_t bytes, void **memory);
void dist__device_return(const struct dist__device *device, void *memory);

/* dist__device_spin keeps the device busy and waits for the end; false: this
 * runtime cannot, nothing was done. Errors in *error: IO. */
bool dist__device_spin(const struct dist__device *device, int64_t duration_ns,
		       enum dist_error *error);

/* dist__cuda_error returns what a call of the runtime came to. */
enum dist_error dist__cuda_error(unsigned status);

/* What the public dist_device_ functions do. */
extern const struct dist__memory dist__device_memory;

#endif
