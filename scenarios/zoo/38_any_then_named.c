/*
 * 38 - a receive from any source takes what a later one waits for.
 *
 * Rank 0 takes the first result that comes, and then that of rank 1, which has
 * more to do and comes last. On a day when rank 1 is the first, nobody sends
 * what rank 0 then waits for.
 *
 * verdict: race
 * ranks: 0
 * worlds: explore
 * seen in: known from MPI checkers
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error collect(struct zoo *zoo, struct dist_tensor result)
{
	int first;

	/* culprit */
	zoo_try(dist_recv_any(zoo->group, result, 0, &first));
	return dist_recv(zoo->group, result, zoo->correct ? 3 - first : 1, 0);
}

static enum dist_error run(struct zoo *zoo)
{
	float result[4] = {0};
	struct dist_tensor r = zoo_floats(result);

	if (zoo->rank == 0)
		return collect(zoo, r);
	zoo_try(dist_compute(zoo->group, zoo->rank == 1 ? 2000000 : 1000000,
			     "work"));
	/* partner */
	return dist_send(zoo->group, r, 0, 0);
}

const struct zoo_program zoo_38_any_then_named = {
	.name = "38_any_then_named",
	.world_size = 3,
	.run = run,
};
