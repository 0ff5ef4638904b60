/*
 * placement.h - the tensors of one operation, all in the device's memory: those
 * that lie on the host are copied there before and back afterwards. Private to
 * realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_PLACEMENT_H
#define LOCKSTEP_NCCL_PLACEMENT_H

#include "realbackend/nccl/device.h"

struct dist__placement {
	const struct dist__device *device;
	/* As in struct dist__op, but for where the data is. */
	struct dist_tensor tensor;
	struct dist__sides sides;

	struct dist_tensor *lists; /* those of the sides */
	struct dist__copy *copies; /* what had to be copied */
	size_t num_copies;
};

/* dist__placement_enter fills *s, of which only device is set, for op of group
 * rank `rank`. Errors: NO_MEMORY, IO; dist__placement_leave() must follow
 * either way. */
enum dist_error dist__placement_enter(struct dist__placement *s,
				      const struct dist__op *op, int rank);

/* dist__placement_results copies back what op has written. Errors: IO. */
enum dist_error dist__placement_results(const struct dist__placement *s);

void dist__placement_leave(struct dist__placement *s);

#endif
