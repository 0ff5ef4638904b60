/*
 * 46 - a rank catches an exception and tries again.
 *
 * Rank 1 runs out of memory before its all-reduce, catches that, makes the
 * batch smaller and starts over with the broadcast that begins a step. The
 * others are one call further.
 *
 * verdict: mismatch
 * ranks: 1
 * worlds: sim tcp
 * seen in: pytorch#163546, fairseq#689, flyte-sdk#698, composer#1690
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float seed[1] = {0}, gradients[4] = {0};
	struct dist_tensor s = zoo_floats(seed), g = zoo_floats(gradients);
	struct dist_group *all = zoo->group;
	bool out_of_memory = zoo->rank == 1 && !zoo->correct;

	zoo_try(dist_broadcast(all, s, 0, NULL));
	if (out_of_memory)
		/* culprit */
		zoo_try(dist_broadcast(all, s, 0, NULL));
	/* partner */
	return dist_all_reduce(all, g, DIST_AVG, NULL);
}

const struct zoo_program zoo_46_caught_exception = {
	.name = "46_caught_exception",
	.world_size = 3,
	.run = run,
};
