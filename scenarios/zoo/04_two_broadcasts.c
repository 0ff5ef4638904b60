/*
 * 04 - what meets are two different broadcasts.
 *
 * One rank finds the first broadcast not needed and passes it over. Its second
 * broadcast, of step numbers, meets the first one of the others, of weights.
 *
 * verdict: mismatch
 * ranks: 1
 * worlds: sim tcp
 * seen in: nccl#147
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float weights[6] = {0};
	int64_t steps[2] = {0};
	struct dist_tensor w = zoo_floats(weights);
	struct dist_tensor s = dist_tensor(steps, 2, DIST_INT64);
	struct dist_group *all = zoo->group;

	if (zoo->rank != 1 || zoo->correct)
		/* partner */
		zoo_try(dist_broadcast(all, w, 0, NULL));
	/* culprit */
	return dist_broadcast(all, s, 0, NULL);
}

const struct zoo_program zoo_04_two_broadcasts = {
	.name = "04_two_broadcasts",
	.world_size = 3,
	.run = run,
};
