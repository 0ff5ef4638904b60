/*
 * 10 - not every rank sees the checkpoint.
 *
 * Each rank asks its own disk whether there is something to resume from. Two
 * of them find it and broadcast the step to resume at, the other two start
 * training: neither half can be taken for the truth.
 *
 * verdict: mismatch
 * ranks: 0 1 2 3
 * worlds: sim tcp
 * seen in: KempnerForge#50
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0};
	int64_t step = 0;
	struct dist_tensor g = zoo_floats(gradients);
	struct dist_tensor s = dist_tensor(&step, 1, DIST_INT64);
	struct dist_group *all = zoo->group;
	bool file_exists = zoo->rank < 2 || zoo->correct;

	if (file_exists)
		/* culprit */
		zoo_try(dist_broadcast(all, s, 0, NULL));
	/* partner */
	return dist_all_reduce(all, g, DIST_AVG, NULL);
}

const struct zoo_program zoo_10_file_exists = {
	.name = "10_file_exists",
	.world_size = 4,
	.run = run,
};
