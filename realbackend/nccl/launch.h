/*
 * launch.h - calls NCCL for an operation. Private to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_LAUNCH_H
#define LOCKSTEP_NCCL_LAUNCH_H

#include "realbackend/nccl/communicator.h"
#include "realbackend/nccl/placement.h"

/* The caller: a rank of the communicator, and memory for a barrier. */
struct dist__caller {
	int rank, world_size;
	void *scratch; /* of the device, 4 bytes */
};

/*
 * dist__launch enqueues op, with the tensors of s, on the communicator's
 * stream: one call, or several as one group. peer is op's, as a rank of the
 * communicator. Errors: IO, with the communicator's text.
 */
enum dist_error dist__launch(struct dist__communicator *c,
			     const struct dist__caller *caller,
			     const struct dist__op *op, int peer,
			     const struct dist__placement *s);

/* dist__launch_reduces returns whether NCCL supports op on dtype. */
bool dist__launch_reduces(enum dist_reduce_op op, enum dist_dtype dtype);

#endif
