/*
 * 31 - two ranks send to each other before either receives.
 *
 * Fine where a send is buffered (gloo), stuck where it waits for its receive
 * (NCCL), stuck anywhere once the message outgrows the buffer.
 *
 * verdict: buffering
 * ranks: 0 1
 * worlds: sim
 * seen in: nccl#479
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float mine[4] = {1, 2, 3, 4}, theirs[4];
	struct dist_tensor m = zoo_floats(mine), t = zoo_floats(theirs);
	int other = 1 - zoo->rank;

	if (zoo->correct && zoo->rank == 1) {
		zoo_try(dist_recv(zoo->group, t, other, 0));
		return dist_send(zoo->group, m, other, 0);
	}
	/* culprit */
	zoo_try(dist_send(zoo->group, m, other, 0));
	return dist_recv(zoo->group, t, other, 0);
}

const struct zoo_program zoo_31_both_send = {
	.name = "31_both_send",
	.world_size = 2,
	.run = run,
};
