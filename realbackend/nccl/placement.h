/*
 * placement.h - the tensors of one operation in the device's memory: those in
 * the host's memory are copied there before and back afterwards. Private to
 * realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_PLACEMENT_H
#define LOCKSTEP_NCCL_PLACEMENT_H

#include "realbackend/nccl/device.h"

struct dist__placement {
	const struct dist__device *device;
	/* As in struct dist__op, except the data pointers. */
	struct dist_tensor tensor;
	struct dist__sides sides;

	struct dist_tensor *lists; /* of the sides */
	struct dist__copy *copies; /* tensors of the host */
	size_t num_copies;
};

/* dist__placement_enter fills *s, whose device is set, for op on group rank
 * `rank`. Errors: NO_MEMORY, IO; call dist__placement_leave() in any case. */
enum dist_error dist__placement_enter(struct dist__placement *s,
				      const struct dist__op *op, int rank);

/* dist__placement_results copies the outputs of op back. Errors: IO. */
enum dist_error dist__placement_results(const struct dist__placement *s);

void dist__placement_leave(struct dist__placement *s);

#endif
