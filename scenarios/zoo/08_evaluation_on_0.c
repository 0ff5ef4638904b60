/*
 * 08 - rank 0 evaluates through the data-parallel module.
 *
 * The module broadcasts its buffers from rank 0 before each forward pass, also
 * when only rank 0 evaluates. The others wait for it in a barrier, and barrier
 * and broadcast meet.
 *
 * verdict: mismatch
 * ranks: 0
 * worlds: sim tcp
 * seen in: pytorch#53979, pytorch#54059
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error forward(struct dist_group *all,
			       struct dist_tensor buffers)
{
	/* culprit */
	return dist_broadcast(all, buffers, 0, NULL);
}

static enum dist_error run(struct zoo *zoo)
{
	float buffers[4] = {0};
	struct dist_tensor b = zoo_floats(buffers);
	struct dist_group *all = zoo->group;

	zoo_try(forward(all, b));
	if (zoo->rank == 0 && !zoo->correct)
		zoo_try(forward(all, b));
	/* partner */
	return dist_barrier(all, NULL);
}

const struct zoo_program zoo_08_evaluation_on_0 = {
	.name = "08_evaluation_on_0",
	.world_size = 3,
	.run = run,
};
