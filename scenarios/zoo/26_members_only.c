/*
 * 26 - a group is made by its members only.
 *
 * Ranks 0 to 2 make their group, and rank 3, which will not be in it, goes on
 * to the next collective of the default group.
 *
 * verdict: mismatch
 * ranks: 3
 * worlds: sim tcp
 * seen in: pytorch#25390, pytorch#81291
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	static const int members[] = {0, 1, 2};
	float losses[1] = {0.5F};
	struct dist_group *group;

	if (zoo->rank < 3 || zoo->correct)
		/* partner */
		zoo_try(dist_new_group(zoo->group, members, 3, NULL, &group));
	/* culprit */
	return dist_all_reduce(zoo->group, zoo_floats(losses), DIST_AVG, NULL);
}

const struct zoo_program zoo_26_members_only = {
	.name = "26_members_only",
	.world_size = 4,
	.run = run,
};
