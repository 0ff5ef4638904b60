/*
 * 30 - a message and a collective of one group in different orders.
 *
 * In the group of ranks 1 and 3, which are its ranks 0 and 1, rank 3 receives
 * before it reduces, and rank 1 sends once the reduction is over.
 *
 * verdict: deadlock
 * ranks: 1 3
 * worlds: sim tcp
 * seen in: nccl#1192, nccl#584
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	static const int odd[] = {1, 3};
	const struct dist_group_options options = {.name = "stages"};
	float losses[1] = {0.5F};
	struct dist_tensor l = zoo_floats(losses);
	struct dist_group *stages;
	bool early;

	zoo_try(dist_new_group(zoo->group, odd, 2, &options, &stages));
	if (!stages)
		return DIST_OK;
	early = dist_get_rank(stages) == 1 && !zoo->correct;
	if (early)
		/* culprit */
		zoo_try(dist_recv(stages, l, 0, 0));
	/* partner */
	zoo_try(dist_all_reduce(stages, l, DIST_MAX, NULL));
	if (dist_get_rank(stages) == 0)
		return dist_send(stages, l, 1, 0);
	return early ? DIST_OK : dist_recv(stages, l, 0, 0);
}

const struct zoo_program zoo_30_message_in_group = {
	.name = "30_message_in_group",
	.world_size = 4,
	.run = run,
};
