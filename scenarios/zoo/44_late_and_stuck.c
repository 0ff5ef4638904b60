/*
 * 44 - a rank that looks late, and would never have come.
 *
 * One rank loads a checkpoint for longer than the time-out, then waits for its
 * optimizer state, which rank 0 sends only after the step that all wait in. A
 * longer time-out would not help.
 *
 * verdict: deadlock
 * ranks: 0 2
 * worlds: sim
 * copy: needed
 * seen in: LlamaFactory#360, accelerate#314
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float state[4] = {0}, gradients[4] = {0};
	struct dist_tensor s = zoo_floats(state), g = zoo_floats(gradients);
	int64_t second = 1000000000;

	if (zoo->rank == 0 && zoo->correct)
		zoo_try(dist_send(zoo->group, s, 2, 0));
	if (zoo->rank == 2) {
		zoo_try(dist_compute(zoo->group,
				     zoo->correct ? second / 100 : 30 * second,
				     "load"));
		/* culprit */
		zoo_try(dist_recv(zoo->group, s, 0, 0));
	}
	/* culprit */
	zoo_try(dist_all_reduce(zoo->group, g, DIST_AVG, NULL));
	if (zoo->rank == 0 && !zoo->correct)
		zoo_try(dist_send(zoo->group, s, 2, 0));
	return DIST_OK;
}

const struct zoo_program zoo_44_late_and_stuck = {
	.name = "44_late_and_stuck",
	.world_size = 3,
	.run = run,
};
