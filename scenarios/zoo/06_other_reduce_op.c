/*
 * 06 - one rank reduces by another operation.
 *
 * All ranks average but one, which still has the line of last week and sums.
 * Nothing hangs and nothing fails: the replicas drift apart.
 *
 * verdict: mismatch
 * ranks: 0
 * worlds: sim tcp
 * seen in: no report found; MPI checkers know it
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float losses[3] = {1, 2, 3};
	struct dist_tensor l = zoo_floats(losses);

	if (zoo->rank == 0 && !zoo->correct)
		/* culprit */
		return dist_all_reduce(zoo->group, l, DIST_SUM, NULL);
	/* partner */
	return dist_all_reduce(zoo->group, l, DIST_AVG, NULL);
}

const struct zoo_program zoo_06_other_reduce_op = {
	.name = "06_other_reduce_op",
	.world_size = 4,
	.run = run,
};
