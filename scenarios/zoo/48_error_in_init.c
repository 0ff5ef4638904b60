/*
 * 48 - making a communicator fails on one rank.
 *
 * Rank 2 counts its nodes wrongly and lists a rank that is not there. Its call
 * is refused before anybody hears of it; the others wait inside theirs.
 *
 * verdict: lost
 * ranks: 2
 * worlds: sim tcp
 * seen in: nccl#582
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	int ranks[] = {0, 2, 3};
	struct dist_group *group;

	if (zoo->rank == 2 && !zoo->correct)
		ranks[2] = 4;
	/* partner */
	zoo_try(dist_new_group(zoo->group, ranks, 3, NULL, &group));
	return group ? dist_barrier(group, NULL) : DIST_OK;
}

const struct zoo_program zoo_48_error_in_init = {
	.name = "48_error_in_init",
	.world_size = 4,
	.run = run,
};
