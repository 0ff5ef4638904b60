/*
 * 21 - one rank makes a step of its own, of nothing that was averaged.
 *
 * Rank 0 drops a bad batch before backward, but its optimizer steps all the
 * same (on momentum), and so is a step ahead. As many averages are made on all
 * ranks, and nothing hangs.
 *
 * verdict: mismatch
 * ranks: 0
 * worlds: sim tcp
 * seen in: NeMo Automodel#2468
 */
#include "scenarios/zoo/model.h"

static enum dist_error step(struct zoo_model *model)
{
	/* culprit */
	zoo_try(zoo_backward(model, 0));
	zoo_try(dist_ddp_finish(model->ddp));
	return dist_ddp_optimizer_step(model->ddp);
}

static enum dist_error train(struct zoo *zoo, struct zoo_model *model)
{
	zoo_try(step(model));
	if (zoo->rank == 0 && !zoo->correct)
		zoo_try(dist_ddp_optimizer_step(model->ddp));
	zoo_try(step(model));
	return step(model);
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

const struct zoo_program zoo_21_step_ahead = {
	.name = "21_step_ahead",
	.world_size = 3,
	.run = run,
};
