/*
 * 39 - a stage of a pipeline that goes backward as soon as it can.
 *
 * The first stage sends two micro-batches ahead before it takes a gradient. The
 * second one looks whether the gradient of the first micro-batch is there, and
 * else goes forward with the next. In time it never is; when the second stage
 * is slow it is, and both stages send.
 *
 * verdict: race
 * ranks: 1
 * worlds: explore
 * seen in: pytorch#127332, pytorch#172668, torchtitan#775, PiPPy#1088
 */
#include "scenarios/zoo/zoo.h"

enum { AHEAD = 2 };

static enum dist_error first_stage(struct zoo *zoo, struct dist_tensor batch)
{
	for (int i = 0; i < AHEAD; i++)
		zoo_try(dist_send(zoo->group, batch, 1, 0));
	for (int i = 0; i < AHEAD; i++)
		zoo_try(dist_recv(zoo->group, batch, 1, 0));
	return DIST_OK;
}

static enum dist_error forward(struct zoo *zoo, struct dist_tensor batch)
{
	zoo_try(dist_recv(zoo->group, batch, 0, 0));
	return dist_send(zoo->group, batch, 2, 0);
}

static enum dist_error backward(struct zoo *zoo, struct dist_tensor gradient,
				struct dist_work *work)
{
	zoo_try(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(work);
	return dist_send(zoo->group, gradient, 0, 0);
}

static enum dist_error second_stage(struct zoo *zoo, struct dist_tensor batch)
{
	float gradients[4];
	struct dist_tensor g = zoo_floats(gradients);
	struct dist_work *work;
	bool early;

	zoo_try(forward(zoo, batch));
	/* culprit */
	zoo_try(dist_irecv(zoo->group, g, 2, 0, &work));
	early = !zoo->correct && dist_work_is_completed(work);
	if (!early)
		zoo_try(forward(zoo, batch));
	zoo_try(backward(zoo, g, work));
	if (early)
		zoo_try(forward(zoo, batch));
	zoo_try(dist_irecv(zoo->group, g, 2, 0, &work));
	return backward(zoo, g, work);
}

static enum dist_error last_stage(struct zoo *zoo, struct dist_tensor batch)
{
	for (int i = 0; i < AHEAD; i++) {
		zoo_try(dist_recv(zoo->group, batch, 1, 0));
		zoo_try(dist_compute(zoo->group, 1000000, "backward"));
		zoo_try(dist_send(zoo->group, batch, 1, 0));
	}
	return DIST_OK;
}

static enum dist_error run(struct zoo *zoo)
{
	float activations[4] = {0};
	struct dist_tensor a = zoo_floats(activations);

	if (zoo->rank == 0)
		return first_stage(zoo, a);
	return zoo->rank == 1 ? second_stage(zoo, a) : last_stage(zoo, a);
}

const struct zoo_program zoo_39_eager_backward = {
	.name = "39_eager_backward",
	.world_size = 3,
	.run = run,
};
