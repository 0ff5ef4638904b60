/*
 * 29 - operations of two groups in flight at once, in either order.
 *
 * Rank 0 starts a reduction in one group and then in the other, rank 1 the
 * other way round, and both wait for them after that. Groups have lanes of
 * their own, so this is right. On device streams that share what they run on
 * it can hang under load.
 *
 * verdict: fine
 * ranks:
 * worlds: sim tcp
 * seen in: nccl#195, nccl#592, nccl#1347, rccl#2191
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float losses[1] = {0.5F}, norms[1] = {2};
	struct dist_tensor l = zoo_floats(losses), n = zoo_floats(norms);
	struct dist_work *first, *second;
	struct dist_group *data, *model;
	bool turned = zoo->rank == 1 && !zoo->correct;

	zoo_try(dist_new_group(zoo->group, NULL, 0, NULL, &data));
	zoo_try(dist_new_group(zoo->group, NULL, 0, NULL, &model));
	zoo_try(dist_all_reduce(turned ? model : data, turned ? n : l, DIST_SUM,
				&first));
	zoo_try(dist_all_reduce(turned ? data : model, turned ? l : n, DIST_SUM,
				&second));
	zoo_try(dist_work_wait(first, DIST_TIMEOUT_OF_GROUP));
	zoo_try(dist_work_wait(second, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(first);
	dist_work_free(second);
	return DIST_OK;
}

const struct zoo_program zoo_29_two_in_flight = {
	.name = "29_two_in_flight",
	.world_size = 2,
	.run = run,
};
