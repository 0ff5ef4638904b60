/*
 * 41 - the result of a receive is used without a wait for it.
 *
 * Nothing is written, so that nothing is broken but what was read: the next
 * layer computes with garbage, or with the activations of the batch before.
 *
 * verdict: hazard
 * ranks: 1
 * worlds: sim tcp
 * debug: detail
 * seen in: pytorch#152534, pytorch#162749
 */
#include <stdlib.h>

#include "scenarios/zoo/zoo.h"

#define NUMEL 32768

static float norm(const float *activations)
{
	float sum = 0;

	for (int i = 0; i < NUMEL; i++)
		/* access */
		sum += activations[i] * activations[i];
	return sum;
}

static enum dist_error receive(struct zoo *zoo, float *activations,
			       struct dist_tensor tensor)
{
	struct dist_work *work;
	enum dist_error error = DIST_OK;
	float result;

	/* culprit */
	zoo_try(dist_irecv(zoo->group, tensor, 0, 0, &work));
	if (zoo->correct)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	result = norm(activations);
	if (!error)
		/* partner */
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	if (!error)
		error = dist_send(zoo->group,
				  dist_tensor(&result, 1, DIST_FLOAT32), 0, 1);
	return error;
}

static enum dist_error send(struct zoo *zoo, struct dist_tensor tensor)
{
	float result;

	zoo_try(dist_send(zoo->group, tensor, 1, 0));
	return dist_recv(zoo->group, dist_tensor(&result, 1, DIST_FLOAT32), 1,
			 1);
}

static enum dist_error run(struct zoo *zoo)
{
	float *activations = calloc(NUMEL, sizeof *activations);
	struct dist_tensor tensor =
		dist_tensor(activations, NUMEL, DIST_FLOAT32);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (activations && zoo->rank == 1)
		error = receive(zoo, activations, tensor);
	else if (activations)
		error = send(zoo, tensor);
	free(activations);
	return error;
}

const struct zoo_program zoo_41_used_before_wait = {
	.name = "41_used_before_wait",
	.world_size = 2,
	.run = run,
};
