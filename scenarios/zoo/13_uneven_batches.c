/*
 * 13 - one rank has a batch more than the others.
 *
 * The samples do not divide by the number of ranks, and the sampler does not
 * pad. In its last batch rank 0 averages alone.
 *
 * verdict: deadlock
 * ranks: 0
 * worlds: sim tcp
 * seen in: pytorch#33148, pytorch#38174, litData#233, PyMarlin#80
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0};
	struct dist_tensor g = zoo_floats(gradients);
	int samples = zoo->correct ? 9 : 10;
	int batches = samples / 3 + (zoo->rank < samples % 3);

	for (int batch = 0; batch < batches; batch++)
		/* culprit */
		zoo_try(dist_all_reduce(zoo->group, g, DIST_AVG, NULL));
	return DIST_OK;
}

const struct zoo_program zoo_13_uneven_batches = {
	.name = "13_uneven_batches",
	.world_size = 3,
	.run = run,
};
