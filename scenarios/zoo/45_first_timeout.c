/*
 * 45 - the first operation keeps to a time-out, or should.
 *
 * The program asks for two seconds before its first operation, to which a rank
 * comes after a minute. Where communicators are made by the first operation,
 * that one waits without end.
 *
 * verdict: timeout
 * ranks: 1
 * worlds: sim tcp
 * seen in: pytorch#124950
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradients[4] = {0};
	struct dist_tensor g = zoo_floats(gradients);
	int64_t second = 1000000000;
	int64_t load_ns = zoo->correct ? second / 100 : 60 * second;

	zoo_try(dist_set_timeout(zoo->group, 2 * second));
	if (zoo->rank == 1)
		zoo_try(dist_compute(zoo->group, load_ns, "load"));
	/* culprit */
	return dist_all_reduce(zoo->group, g, DIST_AVG, NULL);
}

const struct zoo_program zoo_45_first_timeout = {
	.name = "45_first_timeout",
	.world_size = 3,
	.run = run,
};
