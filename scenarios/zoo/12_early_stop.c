/*
 * 12 - one rank stops early by its own loss.
 *
 * The loss of its own share of the data is good enough for rank 3, and it
 * leaves the loop. The others still average their gradients.
 *
 * verdict: deadlock
 * ranks: 3
 * worlds: sim tcp
 * seen in: Primus#854
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0};
	struct dist_tensor g = zoo_floats(gradients);

	for (int epoch = 0; epoch < 4; epoch++) {
		if (zoo->rank == 3 && epoch == 2 && !zoo->correct)
			break;
		/* culprit */
		zoo_try(dist_all_reduce(zoo->group, g, DIST_AVG, NULL));
	}
	return DIST_OK;
}

const struct zoo_program zoo_12_early_stop = {
	.name = "12_early_stop",
	.world_size = 4,
	.run = run,
};
