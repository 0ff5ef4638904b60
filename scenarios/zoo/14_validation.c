/*
 * 14 - one rank validates while the others train.
 *
 * Whether it is time to validate is asked of a clock or of a counter that
 * restarted on one rank. Both sides then wait, in different calls.
 *
 * verdict: mismatch
 * ranks: 2
 * worlds: sim tcp
 * seen in: vall-e#93
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0}, score[1] = {0}, scores[4];
	struct dist_tensor g = zoo_floats(gradients);
	struct dist_tensor mine = zoo_floats(score), out = zoo_floats(scores);
	struct dist_group *all = zoo->group;
	int step = zoo->rank == 2 && !zoo->correct ? 3 : 1;

	for (int i = 0; i < 2; i++, step++) {
		if (step % 4 == 0)
			/* culprit */
			zoo_try(dist_all_gather_single(all, out, mine, NULL));
		else
			/* partner */
			zoo_try(dist_all_reduce(all, g, DIST_AVG, NULL));
	}
	return DIST_OK;
}

const struct zoo_program zoo_14_validation = {
	.name = "14_validation",
	.world_size = 4,
	.run = run,
};
