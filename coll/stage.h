/*
 * stage.h - operations that cannot run in the caller's memory: on several
 * tensors at once, or with a factor before the sum. Private to coll/.
 *
 * Such an operation is staged: the inputs are copied into one buffer (summed
 * over the rank's devices, multiplied by the factor), an algorithm runs on that
 * as one tensor, and the outputs are copied back.
 */
#ifndef LOCKSTEP_COLL_STAGE_H
#define LOCKSTEP_COLL_STAGE_H

#include "coll/algorithm.h"

struct dist__stage {
	const struct dist__coll *coll; /* of the caller's op */
	struct dist__op op;            /* to run instead */
	struct dist__sides sides;      /* of op */
	struct dist_tensor spare;      /* room for one more piece */
	void *memory;                  /* of all of these; or NULL */
};

/* dist__stage_needed returns whether op must be staged. */
bool dist__stage_needed(const struct dist__op *op);

/* dist__stage_in fills *stage for coll; release it also after an error. Errors:
 * NO_MEMORY. */
enum dist_error dist__stage_in(struct dist__stage *stage,
			       const struct dist__coll *coll);

/* dist__stage_out copies the outputs of stage->op, once it is complete. */
void dist__stage_out(const struct dist__stage *stage);

/* dist__stage_release frees the memory. */
void dist__stage_release(struct dist__stage *stage);

/* dist__contributors returns how many tensors a reduction combines into one. */
int dist__contributors(const struct dist__coll *coll);

#endif
