/*
 * launch.h - an operation in NCCL's words. Private to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_LAUNCH_H
#define LOCKSTEP_NCCL_LAUNCH_H

#include "realbackend/nccl/communicator.h"
#include "realbackend/nccl/placement.h"

/* Who calls: a rank of the communicator's, and memory for a barrier. */
struct dist__caller {
	int rank, world_size;
	void *scratch; /* of the device, 4 bytes */
};

/*
 * dist__launch enqueues op, of which the tensors are s's, on the communicator's
 * stream: one call, or several as one group. peer is op's, in the numbers of
 * the communicator. Errors: IO, described in the communicator's words.
 */
enum dist_error dist__launch(struct dist__communicator *c,
			     const struct dist__caller *caller,
			     const struct dist__op *op, int peer,
			     const struct dist__placement *s);

/* dist__launch_reduces returns whether NCCL has op. */
bool dist__launch_reduces(enum dist_reduce_op op, enum dist_dtype dtype);

#endif
