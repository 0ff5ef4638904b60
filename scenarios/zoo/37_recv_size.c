/*
 * 37 - a receive is shorter than what is sent.
 *
 * When it is off by little, NCCL delivers a part without a word; by more, it
 * hangs.
 *
 * verdict: mismatch
 * ranks: 0 1
 * worlds: sim tcp
 * seen in: nccl#1938, pytorch#113376
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float sent[6] = {0}, received[6];
	struct dist_tensor s = zoo_floats(sent);
	struct dist_tensor r = zoo_floats(received);

	if (!zoo->correct)
		r.numel = 5;
	if (zoo->rank == 0)
		/* culprit */
		return dist_send(zoo->group, s, 1, 0);
	/* partner */
	return dist_recv(zoo->group, r, 0, 0);
}

const struct zoo_program zoo_37_recv_size = {
	.name = "37_recv_size",
	.world_size = 2,
	.run = run,
};
