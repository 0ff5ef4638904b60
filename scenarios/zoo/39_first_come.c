/*
 * 39 - a stage of a pipeline that does what comes first.
 *
 * The second stage takes an activation or a gradient, whatever is there, and
 * passes it on. As long as the next activation comes before the gradient of
 * the one before, all is well; the other way round, the first stage sends an
 * activation to the second, which sends it a gradient.
 *
 * verdict: race
 * ranks: 1
 * worlds: explore
 * seen in: pytorch#127332, pytorch#172668, torchtitan#775, PiPPy#1088
 */
#include "scenarios/zoo/zoo.h"

enum { BATCHES = 2 };

static enum dist_error send_batches(struct zoo *zoo)
{
	float activations[4] = {0};
	struct dist_tensor a = zoo_floats(activations);

	for (int i = 0; i < BATCHES; i++)
		/* partner */
		zoo_try(dist_send(zoo->group, a, 1, 0));
	return DIST_OK;
}

static enum dist_error first_stage(struct zoo *zoo)
{
	float gradients[BATCHES][4];
	struct dist_work *works[BATCHES];

	/* The twin is ready for gradients before it sends. */
	for (int i = 0; i < BATCHES && zoo->correct; i++)
		zoo_try(dist_irecv(zoo->group, zoo_floats(gradients[i]), 1, 0,
				   &works[i]));
	zoo_try(send_batches(zoo));
	for (int i = 0; i < BATCHES; i++) {
		if (!zoo->correct)
			zoo_try(dist_irecv(zoo->group, zoo_floats(gradients[i]),
					   1, 0, &works[i]));
		zoo_try(dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP));
		dist_work_free(works[i]);
	}
	return DIST_OK;
}

static enum dist_error second_stage(struct zoo *zoo)
{
	float data[4];
	struct dist_tensor d = zoo_floats(data);
	int source;

	for (int i = 0; i < 2 * BATCHES; i++) {
		/* culprit */
		zoo_try(dist_recv_any(zoo->group, d, 0, &source));
		zoo_try(dist_send(zoo->group, d, 2 - source, 0));
	}
	return DIST_OK;
}

static enum dist_error go_back(struct zoo *zoo, float data[][4],
			       struct dist_work **works)
{
	for (int i = 0; i < BATCHES; i++) {
		zoo_try(dist_recv(zoo->group, zoo_floats(data[i]), 1, 0));
		zoo_try(dist_compute(zoo->group, 1000000, "backward"));
		/* partner */
		zoo_try(dist_isend(zoo->group, zoo_floats(data[i]), 1, 0,
				   &works[i]));
	}
	return DIST_OK;
}

/* It never waits for a gradient to be taken before it takes an activation. */
static enum dist_error last_stage(struct zoo *zoo)
{
	float data[BATCHES][4];
	struct dist_work *works[BATCHES] = {NULL};
	enum dist_error error = go_back(zoo, data, works);

	for (int i = 0; i < BATCHES; i++) {
		if (!error)
			error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
	}
	return error;
}

static enum dist_error run(struct zoo *zoo)
{
	if (zoo->rank == 0)
		return first_stage(zoo);
	return zoo->rank == 1 ? second_stage(zoo) : last_stage(zoo);
}

const struct zoo_program zoo_39_first_come = {
	.name = "39_first_come",
	.world_size = 3,
	.run = run,
};
