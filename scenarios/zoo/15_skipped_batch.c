/*
 * 15 - one rank skips a sample that it cannot read.
 *
 * Its counts of steps drift from those of the others without a sign, because
 * every step looks the same. In the end the others wait for a step that rank 1
 * never takes.
 *
 * verdict: deadlock
 * ranks: 1
 * worlds: sim tcp
 * seen in: NeMo Automodel#2468
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0};
	struct dist_tensor g = zoo_floats(gradients);

	for (int batch = 0; batch < 5; batch++) {
		bool unreadable = zoo->rank == 1 && batch == 2;

		if (unreadable && !zoo->correct)
			continue;
		/* culprit */
		zoo_try(dist_all_reduce(zoo->group, g, DIST_AVG, NULL));
	}
	return DIST_OK;
}

const struct zoo_program zoo_15_skipped_batch = {
	.name = "15_skipped_batch",
	.world_size = 3,
	.run = run,
};
