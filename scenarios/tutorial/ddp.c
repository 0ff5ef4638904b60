/*
 * tutorial_ddp - "Getting Started with Distributed Data Parallel", Basic Use
 * Case: a ToyModel on every rank, each with a batch of its own, and gradients
 * that DDP averages. The ranks begin with different parameters; DDP gives them
 * rank 0's.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/ddp.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/nn/toymodel.h"
#include "scenarios/tutorial/replicas.h"

#define STEPS 50
#define RATE  0.1F
#define SEED  1234

static enum dist_error train(struct dist_group *group, struct toymodel *model,
			     struct dist_ddp *ddp)
{
	int rank = dist_get_rank(group);
	const struct toymodel_batch batch = toymodel_batch(SEED, (size_t)rank);
	enum dist_error error = DIST_OK;

	for (int step = 0; !error && step < STEPS; step++) {
		double loss = toymodel_train(model, &batch);

		error = replicas_average(ddp, &model->network);
		if (error)
			break;
		network_step(&model->network, RATE, 0);
		error = dist_all_reduce(group,
					dist_tensor(&loss, 1, DIST_FLOAT64),
					DIST_AVG, NULL);
		if (!error && rank == 0 && step % 10 == 0)
			printf("step %2d: loss %.3f\n", step, loss);
	}
	return error;
}

int tutorial_ddp_rank(void *arg)
{
	enum dist_error error = DIST_ERR_NO_MEMORY;
	struct dist_group *group;
	struct dist_ddp *ddp = NULL;
	struct toymodel model;
	bool same = false;
	int status;

	(void)arg;
	if (rank_join(&group))
		return 1;
	if (toymodel_init(&model, (size_t)dist_get_rank(group)))
		error = replicas_new(group, &model.network, &ddp);
	if (!error)
		error = train(group, &model, ddp);
	if (!error)
		error = replicas_check(group, &model.network, &same);
	dist_ddp_free(ddp);
	status = rank_leave(group, "tutorial_ddp", error) || !same;
	toymodel_release(&model);
	return status;
}
