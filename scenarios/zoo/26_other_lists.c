/*
 * 26 - one rank makes a group of other ranks.
 *
 * Each rank works out the lists for itself, and rank 2 does it wrong.
 *
 * verdict: mismatch
 * ranks: 2
 * worlds: sim tcp
 * seen in: pytorch#25390, pytorch#81291
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	static const int first[] = {0, 1}, shifted[] = {1, 2};
	bool wrong = zoo->rank == 2 && !zoo->correct;
	struct dist_group *pair;

	if (wrong)
		/* culprit */
		return dist_new_group(zoo->group, shifted, 2, NULL, &pair);
	/* partner */
	return dist_new_group(zoo->group, first, 2, NULL, &pair);
}

const struct zoo_program zoo_26_other_lists = {
	.name = "26_other_lists",
	.world_size = 4,
	.run = run,
};
