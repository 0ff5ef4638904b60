/*
 * 28 - two groups with two ranks in common, called in different orders.
 *
 * Group a has ranks 0 to 2, group b ranks 1 to 3. Rank 1 reduces in a and then
 * in b, rank 2 in b and then in a: each order alone is right.
 *
 * verdict: deadlock
 * ranks: 1 2
 * worlds: sim tcp
 * seen in: torchrec#4149, runai-model-streamer#165
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	static const int low[] = {0, 1, 2}, high[] = {1, 2, 3};
	const struct dist_group_options named_a = {.name = "a"};
	const struct dist_group_options named_b = {.name = "b"};
	float losses[1] = {0.5F};
	struct dist_tensor l = zoo_floats(losses);
	struct dist_group *a, *b;

	zoo_try(dist_new_group(zoo->group, low, 3, &named_a, &a));
	zoo_try(dist_new_group(zoo->group, high, 3, &named_b, &b));
	if (zoo->rank == 2 && !zoo->correct) {
		/* culprit */
		zoo_try(dist_all_reduce(b, l, DIST_MAX, NULL));
		return dist_all_reduce(a, l, DIST_MAX, NULL);
	}
	if (a)
		/* partner */
		zoo_try(dist_all_reduce(a, l, DIST_MAX, NULL));
	return b ? dist_all_reduce(b, l, DIST_MAX, NULL) : DIST_OK;
}

const struct zoo_program zoo_28_two_groups = {
	.name = "28_two_groups",
	.world_size = 4,
	.run = run,
};
