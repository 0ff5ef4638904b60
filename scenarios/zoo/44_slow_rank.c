/*
 * 44 - a rank is late, and not lost.
 *
 * One rank tokenizes its data before the first step, for longer than the
 * time-out. It would have come.
 *
 * verdict: timeout
 * ranks: 2
 * worlds: sim tcp
 * seen in: LlamaFactory#360, LongLoRA#45, accelerate#314
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0};
	struct dist_tensor g = zoo_floats(gradients);
	int64_t second = 1000000000;
	int64_t work_ns = zoo->correct ? second / 100 : 30 * second;

	if (zoo->rank == 2)
		zoo_try(dist_compute(zoo->group, work_ns, "tokenize"));
	/* culprit */
	return dist_all_reduce(zoo->group, g, DIST_AVG, NULL);
}

const struct zoo_program zoo_44_slow_rank = {
	.name = "44_slow_rank",
	.world_size = 3,
	.run = run,
};
