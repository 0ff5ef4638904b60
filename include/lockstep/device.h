/*
 * device.h - memory of the rank's device.
 *
 * A tensor may lie in the program's own memory or in that of the rank's device,
 * in every world. In simulation and over TCP the two are the same. Over NCCL
 * the device is a GPU, number LOCAL_RANK of the machine's, counted around; it
 * is the rank's thread's current device from dist_init_process_group() on. What
 * lies on the host is copied there before an operation and back after it,
 * through this processor, so tensors that are used again and again belong on
 * the device. There an operation starts when it is called: it does not wait for
 * kernels and copies of the program's own streams, which must have ended.
 */
#ifndef LOCKSTEP_DEVICE_H
#define LOCKSTEP_DEVICE_H

#include "lockstep/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * dist_device_alloc stores in *memory bytes of the device's memory, aligned for
 * every dtype, not initialised; the caller frees it with dist_device_free()
 * before the group is destroyed. Errors: DIST_ERR_NO_MEMORY,
 * DIST_ERR_INVALID_ARGUMENT (a NULL argument), DIST_ERR_IO (NCCL: the driver
 * refused).
 */
DIST_MUST_CHECK enum dist_error dist_device_alloc(struct dist_group *group,
						  size_t bytes, void **memory);

/* dist_device_free frees what dist_device_alloc() gave. memory may be NULL, and
 * is in no operation in flight. */
void dist_device_free(struct dist_group *group, void *memory);

/*
 * dist_device_copy copies bytes from `from` to `to`, each on the host or the
 * device, and blocks until they are there. Errors: DIST_ERR_INVALID_ARGUMENT (a
 * NULL argument), DIST_ERR_IO (NCCL: the driver refused).
 */
DIST_MUST_CHECK enum dist_error dist_device_copy(struct dist_group *group,
						 void *to, const void *from,
						 size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
