/*
 * 07 - a collective under "if rank == 0".
 *
 * Rank 0 alone averages the loss before it logs it. The others are by then in
 * the next step's all-reduce, or have left.
 *
 * verdict: deadlock
 * ranks: 0
 * worlds: sim tcp
 * seen in: Lightning#7129, Lightning#19106, Lightning#19604
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {1, 2, 3, 4}, losses[1] = {0.5F};
	struct dist_group *all = zoo->group;
	struct dist_tensor g = zoo_floats(gradients), l = zoo_floats(losses);

	/* partner */
	zoo_try(dist_all_reduce(all, g, DIST_AVG, NULL));
	if (zoo->rank == 0 || zoo->correct)
		/* culprit */
		zoo_try(dist_all_reduce(all, l, DIST_AVG, NULL));
	return DIST_OK;
}

const struct zoo_program zoo_07_rank_0_only = {
	.name = "07_rank_0_only",
	.world_size = 3,
	.run = run,
};
