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
#include "scenarios/tutorial/replicas.h"
#include "scenarios/tutorial/toymodel.h"

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

		error = replicas_average(ddp);
		if (error)
			break;
		toymodel_step(model, RATE);
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
	enum dist_error error;
	struct dist_group *group;
	struct dist_ddp *ddp = NULL;
	struct toymodel model;
	bool same = false;

	(void)arg;
	if (rank_join(&group))
		return 1;
	toymodel_init(&model, (size_t)dist_get_rank(group));
	error = replicas_new(group, &model, &ddp);
	if (!error)
		error = train(group, &model, ddp);
	if (!error)
		error = replicas_check(group, &model, &same);
	dist_ddp_free(ddp);
	return rank_leave(group, "tutorial_ddp", error) || !same;
}
