/*
 * 21 - one rank does not average a step.
 *
 * Rank 1 takes its second batch for one of several to be accumulated. From then
 * on its averages meet those of a step before, and at the end the others wait
 * for one more.
 *
 * verdict: deadlock
 * ranks: 1
 * worlds: sim tcp
 * seen in: picotron#5
 */
#include "scenarios/zoo/model.h"

static enum dist_error train(struct zoo *zoo, struct zoo_model *model)
{
	for (int batch = 0; batch < 4; batch++) {
		if (batch == 1 && zoo->rank == 1 && !zoo->correct)
			zoo_try(dist_ddp_no_sync(model->ddp));
		/* culprit */
		zoo_try(zoo_backward(model, 0));
		zoo_try(dist_ddp_finish(model->ddp));
	}
	return DIST_OK;
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

const struct zoo_program zoo_21_no_sync_on_one = {
	.name = "21_no_sync_on_one",
	.world_size = 3,
	.run = run,
};
