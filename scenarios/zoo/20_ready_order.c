/*
 * 20 - gradients become ready in another order on one rank.
 *
 * A hook averages each gradient as backward yields it. Two branches of the
 * model do not depend on each other, and on rank 1 they come the other way
 * round. Their sizes are equal: nothing hangs, the gradients are wrong.
 *
 * verdict: mismatch
 * ranks: 1
 * worlds: sim tcp
 * seen in: DeepSpeed#2343, Paddle#30931
 */
#include "scenarios/zoo/zoo.h"

/* The hook of branch number i. */
static enum dist_error on_ready(struct dist_group *all, float *gradient, int i)
{
	static const char *const names[] = {"left.weight", "right.weight"};
	struct dist_group *named = dist_label(all, names[i], (uint64_t)i + 1);

	/* culprit */
	return dist_all_reduce(named, dist_tensor(gradient, 8, DIST_FLOAT32),
			       DIST_AVG, NULL);
}

static enum dist_error run(struct zoo *zoo)
{
	int first = zoo->rank == 1 && !zoo->correct;
	float gradients[2][8] = {{1}, {2}};

	zoo_try(on_ready(zoo->group, gradients[first], first));
	return on_ready(zoo->group, gradients[1 - first], 1 - first);
}

const struct zoo_program zoo_20_ready_order = {
	.name = "20_ready_order",
	.world_size = 3,
	.run = run,
};
