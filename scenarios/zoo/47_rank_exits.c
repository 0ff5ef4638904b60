/*
 * 47 - a rank ends in the middle.
 *
 * Rank 1 meets bad data and calls exit. What the others report is a connection
 * that was closed, which reads like a fault of the network.
 *
 * verdict: lost
 * ranks: 1
 * worlds: tcp
 * seen in: pytorch#78514
 */
#include "scenarios/zoo/zoo.h"

#include <stdlib.h>

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0};
	struct dist_tensor g = zoo_floats(gradients);
	struct dist_group *all = zoo->group;

	zoo_try(dist_all_reduce(all, g, DIST_AVG, NULL));
	if (zoo->rank == 1 && !zoo->correct)
		exit(3);
	/* partner */
	return dist_all_reduce(all, g, DIST_AVG, NULL);
}

const struct zoo_program zoo_47_rank_exits = {
	.name = "47_rank_exits",
	.world_size = 3,
	.run = run,
};
