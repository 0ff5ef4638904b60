/*
 * devices.h - an operation on several devices of each rank.
 *
 * Its communicator has a rank for each device: device i of rank r is number
 * r * num + i. All ranks of the group make it at the first call with that num,
 * after they have agreed about the call; rank 0 sends the others its id.
 * Private to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_DEVICES_H
#define LOCKSTEP_NCCL_DEVICES_H

#include "realbackend/nccl/state.h"

/* dist__nccl_devices is the library's devices: it gives the task a share for
 * each device. Errors: NO_MEMORY, IO (with text), the transport's. */
enum dist_error dist__nccl_devices(struct dist__agreed *g,
				   struct dist__task *task, bool *ready);

/* dist__devices_free frees all of g's, whose communicators are already freed,
 * and cancels their messages. */
void dist__devices_free(struct dist__nccl_group *g);

#endif
