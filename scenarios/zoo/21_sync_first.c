/*
 * 21 - the wrong micro-batch is averaged.
 *
 * Of the three micro-batches of a step the first is averaged rather than the
 * last, on all ranks. What the others add stays each rank's own.
 *
 * verdict: argument
 * ranks: 0 1
 * worlds: sim tcp
 * seen in: picotron#5
 */
#include "scenarios/zoo/model.h"

static enum dist_error train(struct zoo *zoo, struct zoo_model *model)
{
	const int num = 3, averaged = zoo->correct ? num - 1 : 0;

	for (int i = 0; i < num; i++) {
		if (i != averaged)
			zoo_try(dist_ddp_no_sync(model->ddp));
		zoo_try(zoo_backward(model, 0));
		zoo_try(dist_ddp_finish(model->ddp));
	}
	/* culprit */
	return dist_ddp_optimizer_step(model->ddp);
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

const struct zoo_program zoo_21_sync_first = {
	.name = "21_sync_first",
	.world_size = 2,
	.run = run,
};
