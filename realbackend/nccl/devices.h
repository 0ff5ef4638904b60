/*
 * devices.h - an operation in which several devices of each rank take part.
 *
 * Its communicator has a rank for each of them, device i of rank r being number
 * r * num + i. It is made at the first call with that num, by all ranks of the
 * group, which have agreed about the call; the first of them tells the others
 * where to meet. Private to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_DEVICES_H
#define LOCKSTEP_NCCL_DEVICES_H

#include "realbackend/nccl/group.h"

/* dist__nccl_devices is the library's devices: it gives the task a share for
 * each of them. Errors: NO_MEMORY, IO (in words), the transport's. */
enum dist_error dist__nccl_devices(struct dist__agreed *g,
				   struct dist__task *task, bool *ready);

/* dist__devices_free frees all of g's, whose communicators are released
 * already, and takes back their messages. */
void dist__devices_free(struct dist__nccl_group *g);

#endif
