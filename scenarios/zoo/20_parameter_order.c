/*
 * 20 - the parameters stand in another order on one rank.
 *
 * They are gathered from a set, which each process walks in its own order.
 * Weights of one size change places in a bucket, and are averaged with each
 * other.
 *
 * verdict: mismatch
 * ranks: 2
 * worlds: sim tcp
 * seen in: DeepSpeed#2343
 */
#include "scenarios/zoo/model.h"

static enum dist_error run(struct zoo *zoo)
{
	struct dist_ddp_parameter other;
	struct zoo_model model;

	zoo_model_list(&model);
	if (zoo->rank == 2 && !zoo->correct) {
		other = model.list[ZOO_ENCODER_WEIGHT];
		model.list[ZOO_ENCODER_WEIGHT] = model.list[ZOO_HEAD_WEIGHT];
		model.list[ZOO_HEAD_WEIGHT] = other;
	}
	/* culprit */
	zoo_try(dist_ddp_new(zoo->group, model.list, ZOO_PARAMETERS, NULL,
			     &model.ddp));
	dist_ddp_free(model.ddp);
	return DIST_OK;
}

const struct zoo_program zoo_20_parameter_order = {
	.name = "20_parameter_order",
	.world_size = 3,
	.run = run,
};
