/*
 * 22 - a static graph is recorded in a micro-batch that is not like the others.
 *
 * The first micro-batch, under no_sync, warms up the head alone; the encoder
 * comes in with the second. The graph is not static.
 *
 * verdict: argument
 * ranks: 0 1 2
 * worlds: sim tcp
 * seen in: pytorch#187732
 */
#include "scenarios/zoo/model.h"

static enum dist_error train(struct zoo *zoo, struct zoo_model *model)
{
	int first = zoo->correct ? 0 : ZOO_HEAD_WEIGHT;

	zoo_try(dist_ddp_no_sync(model->ddp));
	zoo_try(zoo_backward(model, first));
	zoo_try(dist_ddp_finish(model->ddp));
	/* culprit */
	zoo_try(zoo_backward(model, 0));
	return dist_ddp_finish(model->ddp);
}

static enum dist_error run(struct zoo *zoo)
{
	const struct dist_ddp_options options = {.static_graph = true};
	struct zoo_model model;
	enum dist_error error;

	zoo_try(zoo_model_new(zoo, &model, &options));
	error = train(zoo, &model);
	dist_ddp_free(model.ddp);
	return error;
}

const struct zoo_program zoo_22_static_no_sync = {
	.name = "22_static_no_sync",
	.world_size = 3,
	.run = run,
};
