/*
 * 26 - a rank calls on a group that it is not in.
 *
 * Ranks 0 and 1 have a group; rank 2, whose handle is NULL, reduces with them.
 *
 * verdict: argument
 * ranks: 2
 * worlds: sim tcp
 * seen in: pytorch#81291
 */
#include <stdio.h>

#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	static const int members[] = {0, 1};
	float losses[1] = {0.5F};
	struct dist_group *group;
	enum dist_error err = DIST_OK;

	zoo_try(dist_new_group(zoo->group, members, 2, NULL, &group));
	if (group || !zoo->correct)
		err = dist_all_reduce(group, zoo_floats(losses), DIST_AVG,
				      NULL);
	if (err)
		fprintf(stderr, "rank %d: %s\n", zoo->rank,
			dist_error_message(group));
	return err;
}

const struct zoo_program zoo_26_non_member = {
	.name = "26_non_member",
	.world_size = 3,
	.run = run,
};
