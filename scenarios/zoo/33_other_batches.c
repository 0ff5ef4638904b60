/*
 * 33 - the lists of a batch do not fit each other.
 *
 * Every rank passes something on around a ring, in one batch. Rank 2 has
 * nothing to pass on and leaves the send out of its list.
 *
 * verdict: deadlock
 * ranks: 0 2
 * worlds: sim tcp
 * seen in: nccl#2130
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float mine[2] = {1, 2}, theirs[2];
	int n = zoo->world_size, rank = zoo->rank;
	struct dist_p2p_op ops[2] = {
		{DIST_IRECV, zoo_floats(theirs), (rank + n - 1) % n, 0},
		{DIST_ISEND, zoo_floats(mine), (rank + 1) % n, 0}};
	size_t num_ops = rank == 2 && !zoo->correct ? 1 : 2;
	struct dist_work *works[2];
	enum dist_error error = DIST_OK;

	/* culprit */
	zoo_try(dist_batch_isend_irecv(zoo->group, ops, num_ops, works));
	for (size_t i = 0; i < num_ops; i++) {
		if (!error)
			error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
	}
	zoo_try(error);
	/* partner */
	return dist_barrier(zoo->group, NULL);
}

const struct zoo_program zoo_33_other_batches = {
	.name = "33_other_batches",
	.world_size = 3,
	.run = run,
};
