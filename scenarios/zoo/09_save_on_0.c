/*
 * 09 - rank 0 saves, and saving gathers the state.
 *
 * Only rank 0 calls save, as every guide says; but the state is sharded, so
 * that saving it gathers the shards of all ranks, and the others are in a
 * barrier.
 *
 * verdict: mismatch
 * ranks: 0
 * worlds: sim tcp
 * seen in: pytorch#143536, instructlab/training#566
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float shard[2] = {1, 2}, state[8];
	struct dist_tensor in = zoo_floats(shard), out = zoo_floats(state);
	struct dist_group *all = zoo->group;

	if (zoo->rank == 0 || zoo->correct)
		/* culprit */
		zoo_try(dist_all_gather_single(all, out, in, NULL));
	/* partner */
	return dist_barrier(all, NULL);
}

const struct zoo_program zoo_09_save_on_0 = {
	.name = "09_save_on_0",
	.world_size = 4,
	.run = run,
};
