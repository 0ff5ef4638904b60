/*
 * 01 - one rank calls two collectives in the other order.
 *
 * Whether the loss is reported before or after the gradients are averaged
 * depends on a branch that only one rank takes. Both tensors have the same
 * size, so that without a checker the sums would go where the loss belongs.
 *
 * verdict: mismatch
 * ranks: 1
 * worlds: sim tcp
 * seen in: nccl#296
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {1, 2, 3, 4}, losses[4] = {0};
	struct dist_tensor g = zoo_floats(gradients), l = zoo_floats(losses);
	bool loss_first = zoo->rank == 1 && !zoo->correct;

	if (loss_first)
		/* culprit */
		zoo_try(dist_broadcast(zoo->group, l, 0, NULL));
	/* partner */
	zoo_try(dist_all_reduce(zoo->group, g, DIST_SUM, NULL));
	if (!loss_first)
		zoo_try(dist_broadcast(zoo->group, l, 0, NULL));
	return DIST_OK;
}

const struct zoo_program zoo_01_swapped = {
	.name = "01_swapped",
	.world_size = 3,
	.run = run,
};
