/*
 * 43 - a handle that nobody waits for before the program ends.
 *
 * The last step's reduction overlaps what is left to compute, and the loop that
 * would have waited for it is over. One rank looks at its loss, and waits.
 *
 * verdict: left
 * ranks: 0 2
 * worlds: sim tcp
 * seen in: pytorch#119881
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	for (int step = 0; step < 3; step++) {
		bool last = step == 2, looks = zoo->correct || zoo->rank == 1;

		/* culprit */
		zoo_try(dist_all_reduce(zoo->group, zoo_floats(zoo->held),
					DIST_AVG, &zoo->kept));
		zoo_try(dist_compute(zoo->group, 1000000, "optimizer"));
		if (!last || looks)
			zoo_try(dist_work_wait(zoo->kept,
					       DIST_TIMEOUT_OF_GROUP));
		if (!last)
			dist_work_free(zoo->kept);
	}
	return DIST_OK;
}

const struct zoo_program zoo_43_never_waited = {
	.name = "43_never_waited",
	.world_size = 3,
	.run = run,
};
