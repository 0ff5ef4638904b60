/*
 * 05 - ranks disagree about the root of a reduce.
 *
 * The rank that writes the log is taken from the environment of each process,
 * and one process has another one. The reduce itself often completes; it is a
 * later call that hangs, and looks guilty.
 *
 * verdict: mismatch
 * ranks: 2
 * worlds: sim tcp
 * seen in: pytorch#39706
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float losses[2] = {1, 2};
	struct dist_tensor l = zoo_floats(losses);
	struct dist_group *all = zoo->group;

	if (zoo->rank == 2 && !zoo->correct)
		/* culprit */
		zoo_try(dist_reduce(all, l, 1, DIST_SUM, NULL));
	else
		/* partner */
		zoo_try(dist_reduce(all, l, 0, DIST_SUM, NULL));
	return dist_all_reduce(all, l, DIST_SUM, NULL);
}

const struct zoo_program zoo_05_root = {
	.name = "05_root",
	.world_size = 4,
	.run = run,
};
