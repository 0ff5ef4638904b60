/*
 * 18 - parameters get no gradient.
 *
 * Nothing in rank 2's batch is labelled, so that the loss does not depend on
 * the head there. The twin lets ddp find unused parameters.
 *
 * verdict: lost
 * ranks: 2
 * worlds: sim tcp
 * seen in: pytorch#43259
 */
#include "scenarios/zoo/model.h"

static enum dist_error step(struct zoo_model *model, bool labelled)
{
	struct dist_ddp *ddp = model->ddp;

	if (labelled) {
		zoo_try(dist_ddp_gradient_ready(ddp, ZOO_HEAD_BIAS));
		/* partner */
		zoo_try(dist_ddp_gradient_ready(ddp, ZOO_HEAD_WEIGHT));
	}
	zoo_try(dist_ddp_gradient_ready(ddp, ZOO_ENCODER_BIAS));
	zoo_try(dist_ddp_gradient_ready(ddp, ZOO_ENCODER_WEIGHT));
	/* culprit */
	return dist_ddp_finish(ddp);
}

static enum dist_error run(struct zoo *zoo)
{
	const struct dist_ddp_options options = {.find_unused_parameters =
							 zoo->correct};
	struct zoo_model model;
	enum dist_error error;

	zoo_try(zoo_model_new(zoo, &model, &options));
	error = step(&model, true);
	if (!error)
		error = step(&model, zoo->rank != 2);
	dist_ddp_free(model.ddp);
	return error;
}

const struct zoo_program zoo_18_no_gradient = {
	.name = "18_no_gradient",
	.world_size = 4,
	.run = run,
};
