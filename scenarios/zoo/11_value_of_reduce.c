/*
 * 11 - all ranks branch on what only dst was given.
 *
 * After a reduce only its dst holds the sum; the others hold what they held
 * before, or parts of the sum. So rank 0 alone finds the loss too high and
 * saves nothing.
 *
 * verdict: mismatch
 * ranks: 0
 * worlds: sim tcp
 * seen in: pytorch#77562
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float loss[1] = {1}, best[1] = {0};
	struct dist_tensor l = zoo_floats(loss), b = zoo_floats(best);
	struct dist_group *all = zoo->group;

	if (zoo->correct)
		zoo_try(dist_all_reduce(all, l, DIST_SUM, NULL));
	else
		zoo_try(dist_reduce(all, l, 0, DIST_SUM, NULL));
	if (loss[0] > 2.5F)
		/* culprit */
		return dist_broadcast(all, b, 0, NULL);
	/* partner */
	return dist_barrier(all, NULL);
}

const struct zoo_program zoo_11_value_of_reduce = {
	.name = "11_value_of_reduce",
	.world_size = 3,
	.run = run,
};
