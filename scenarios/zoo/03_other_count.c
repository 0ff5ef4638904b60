/*
 * 03 - one rank has a gradient of another size.
 *
 * A layer was built from a configuration file that one rank read too early.
 * Depending on the size this hangs, or adds what does not belong together.
 *
 * verdict: mismatch
 * ranks: 2
 * worlds: sim tcp
 * seen in: nccl#1417, nccl#1394, SPA-VL-RLHF#2
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[8] = {0};
	size_t numel = zoo->rank == 2 && !zoo->correct ? 7 : 8;
	struct dist_tensor g = dist_tensor(gradients, numel, DIST_FLOAT32);

	/* culprit */
	return dist_all_reduce(zoo->group, g, DIST_SUM, NULL);
}

const struct zoo_program zoo_03_other_count = {
	.name = "03_other_count",
	.world_size = 4,
	.run = run,
};
