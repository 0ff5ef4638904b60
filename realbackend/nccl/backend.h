/* backend.h - a back end over NCCL for one group. Private to
 * realbackend/nccl/. */
#ifndef LOCKSTEP_NCCL_BACKEND_H
#define LOCKSTEP_NCCL_BACKEND_H

#include "realbackend/nccl/device.h"

/* dist__nccl_backend_new is the world's backend_new, on device. */
enum dist_error dist__nccl_backend_new(const struct dist__device *device,
				       const struct dist__place *place,
				       const struct dist__members *members,
				       struct dist__backend **backend,
				       struct dist_message *message);

#endif
