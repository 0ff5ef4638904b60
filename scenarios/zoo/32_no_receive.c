/*
 * 32 - a send that nobody receives.
 *
 * The last stage of a pipeline forgets to receive what the one before it
 * sends. The send waits for its receive (NCCL), or is buffered and nobody
 * misses it (gloo).
 *
 * verdict: deadlock
 * ranks: 1 2
 * worlds: sim
 * seen in: pytorch#108378
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error send_on(struct zoo *zoo, struct dist_tensor tensor)
{
	struct dist_work *work;
	enum dist_error error;

	/* culprit */
	zoo_try(dist_isend(zoo->group, tensor, zoo->rank + 1, 0, &work));
	error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error;
}

static enum dist_error run(struct zoo *zoo)
{
	float activations[4] = {0};
	struct dist_tensor a = zoo_floats(activations);
	int last = zoo->world_size - 1;

	if (zoo->rank == 1 || (zoo->rank == last && zoo->correct))
		zoo_try(dist_recv(zoo->group, a, zoo->rank - 1, 0));
	if (zoo->rank < last)
		zoo_try(send_on(zoo, a));
	/* partner */
	return dist_all_reduce(zoo->group, a, DIST_SUM, NULL);
}

const struct zoo_program zoo_32_no_receive = {
	.name = "32_no_receive",
	.world_size = 3,
	.run = run,
};
