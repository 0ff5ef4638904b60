/*
 * 16 - what one rank sends is not what another awaits.
 *
 * The split sizes of an all-to-all were computed from counts that two ranks
 * exchanged before a token was dropped. Rank 1 sends three elements to rank 2,
 * which expects two.
 *
 * verdict: mismatch
 * ranks: 1 2
 * worlds: sim tcp
 * seen in: pytorch#117486, pytorch#146468, nccl#1593
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float tokens[9] = {0}, routed[9];
	size_t in[4] = {2, 2, 2, 2}, out[4] = {2, 2, 2, 2};
	struct dist_tensor t, r = dist_tensor(routed, 8, DIST_FLOAT32);

	if (zoo->rank == 1 && !zoo->correct)
		in[2] = 3;
	t = dist_tensor(tokens, in[2] + 6, DIST_FLOAT32);
	/* culprit */
	return dist_all_to_all_single(zoo->group, r, t, out, in, NULL);
}

const struct zoo_program zoo_16_split_sizes = {
	.name = "16_split_sizes",
	.world_size = 4,
	.run = run,
};
