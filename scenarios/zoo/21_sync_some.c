/*
 * 21 - one rank averages another micro-batch than the others.
 *
 * The last micro-batch of a step is averaged. Rank 3 counts them from 1, and
 * takes the one before for the last. As many averages are made on all ranks, so
 * that nothing hangs; rank 3 drifts away.
 *
 * verdict: lost
 * ranks: 3
 * worlds: sim tcp
 * seen in: FunASR#3472
 */
#include "scenarios/zoo/model.h"

static enum dist_error step(struct zoo_model *model, int last)
{
	for (int i = 0; i < 2; i++) {
		if (i != last)
			zoo_try(dist_ddp_no_sync(model->ddp));
		/* partner */
		zoo_try(zoo_backward(model, 0));
		zoo_try(dist_ddp_finish(model->ddp));
	}
	/* culprit */
	return dist_ddp_optimizer_step(model->ddp);
}

static enum dist_error run(struct zoo *zoo)
{
	int last = zoo->rank == 3 && !zoo->correct ? 0 : 1;
	enum dist_error error = DIST_OK;
	struct zoo_model model;

	zoo_try(zoo_model_new(zoo, &model, NULL));
	for (int i = 0; i < 3 && !error; i++)
		error = step(&model, last);
	dist_ddp_free(model.ddp);
	return error;
}

const struct zoo_program zoo_21_sync_some = {
	.name = "21_sync_some",
	.world_size = 4,
	.run = run,
};
