/*
 * 41 - a stage of a pipeline passes on what it has not received yet.
 *
 * The next stage gets garbage, or the activations of the batch before.
 *
 * verdict: hazard
 * ranks: 1
 * worlds: sim tcp
 * debug: info
 * seen in: pytorch#152534, pytorch#162749
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error forward(struct zoo *zoo, struct dist_tensor activations)
{
	struct dist_work *work;
	enum dist_error error = DIST_OK;

	/* partner */
	zoo_try(dist_irecv(zoo->group, activations, 0, 0, &work));
	if (zoo->correct)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	if (!error)
		/* culprit */
		error = dist_send(zoo->group, activations, 2, 0);
	if (!error)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error;
}

static enum dist_error run(struct zoo *zoo)
{
	float activations[16] = {1, 2, 3};
	struct dist_tensor a = zoo_floats(activations);

	if (zoo->rank == 1)
		return forward(zoo, a);
	return zoo->rank == 0 ? dist_send(zoo->group, a, 1, 0)
			      : dist_recv(zoo->group, a, 1, 0);
}

const struct zoo_program zoo_41_forwarded_before_wait = {
	.name = "41_forwarded_before_wait",
	.world_size = 3,
	.run = run,
};
