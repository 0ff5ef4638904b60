/*
 * 25 - an expert without tokens skips the reduction of its gradients.
 *
 * Two experts, each replicated on three ranks: 0, 2 and 4, and 1, 3 and 5. No
 * token of rank 3 went to its expert, so the hook that reduces the expert's
 * gradients over its replicas never fires there.
 *
 * verdict: deadlock
 * ranks: 1 3 5
 * worlds: sim tcp
 * seen in: DeepSpeed#5008, DeepSpeed#4966
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	static const int even[] = {0, 2, 4}, odd[] = {1, 3, 5};
	const struct dist_rank_list lists[] = {{even, 3}, {odd, 3}};
	const struct dist_group_options options = {.name = "expert"};
	float gradients[6] = {1, 2, 3, 4, 5, 6}, part[2];
	struct dist_tensor g = zoo_floats(gradients), p = zoo_floats(part);
	struct dist_group *expert;

	zoo_try(dist_new_subgroups_by_enumeration(zoo->group, lists, 2,
						  &options, &expert));
	if (zoo->rank != 3 || zoo->correct)
		/* partner */
		zoo_try(dist_reduce_scatter_single(expert, p, g, DIST_AVG,
						   NULL));
	/* culprit */
	return dist_barrier(zoo->group, NULL);
}

const struct zoo_program zoo_25_expert_skips = {
	.name = "25_expert_skips",
	.world_size = 6,
	.run = run,
};
