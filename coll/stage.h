/*
 * stage.h - operations that cannot run on the caller's memory as it lies: on
 * several tensors at once, or with a factor before the sum. Private to coll/.
 *
 * Such an operation is staged: what goes in is gathered into memory of its own
 * (summed up over the rank's devices, multiplied by the factor), an algorithm
 * runs on that as on one tensor, and what comes out is dealt out again.
 */
#ifndef LOCKSTEP_COLL_STAGE_H
#define LOCKSTEP_COLL_STAGE_H

#include "coll/algorithm.h"

struct dist__stage {
	const struct dist__coll *coll; /* of the caller's op */
	struct dist__op op;            /* the one to run instead */
	struct dist__sides sides;      /* of that one */
	struct dist_tensor spare;      /* room for one more piece */
	void *memory;                  /* that they lie in; or NULL */
};

/* dist__stage_needed returns whether op must be staged. */
bool dist__stage_needed(const struct dist__op *op);

/* dist__stage_in fills *stage for coll; to be released either way. Errors:
 * NO_MEMORY. */
enum dist_error dist__stage_in(struct dist__stage *stage,
			       const struct dist__coll *coll);

/* dist__stage_out deals out what stage->op got, once it is complete. */
void dist__stage_out(const struct dist__stage *stage);

/* dist__stage_release frees the memory. */
void dist__stage_release(struct dist__stage *stage);

/* dist__contributors returns how many tensors a reduction combines into one. */
int dist__contributors(const struct dist__coll *coll);

#endif
