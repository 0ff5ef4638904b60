/*
 * 13 - one rank has a batch more than the others, through ddp.
 *
 * Ten samples for three ranks: rank 0 averages a fourth batch alone. The twin
 * trains within join.
 *
 * verdict: deadlock
 * ranks: 0
 * worlds: sim tcp
 * seen in: pytorch#33148, pytorch#38174
 */
#include "scenarios/zoo/model.h"

static enum dist_error train(struct zoo *zoo, struct zoo_model *model)
{
	int batches = 3 + (zoo->rank == 0);

	if (zoo->correct)
		zoo_try(dist_ddp_join_begin(model->ddp, NULL));
	for (int batch = 0; batch < batches; batch++) {
		/* culprit */
		zoo_try(zoo_backward(model, 0));
		zoo_try(dist_ddp_finish(model->ddp));
	}
	return zoo->correct ? dist_ddp_join_end(model->ddp) : DIST_OK;
}

static enum dist_error run(struct zoo *zoo)
{
	struct zoo_model model;
	enum dist_error error;

	zoo_try(zoo_model_new(zoo, &model, NULL));
	error = train(zoo, &model);
	dist_ddp_free(model.ddp);
	return error;
}

const struct zoo_program zoo_13_uneven_ddp = {
	.name = "13_uneven_ddp",
	.world_size = 3,
	.run = run,
};
