/*
 * 19 - the static graphs of the ranks are not the same.
 *
 * Rank 1 trains with the encoder frozen, which only the other ranks' settings
 * do not say. With a static graph nobody asks who uses what: sums would lack
 * rank 1's share, and its encoder would stay behind.
 *
 * verdict: mismatch
 * ranks: 1
 * worlds: sim tcp
 * seen in: pytorch#72843
 */
#include "scenarios/zoo/model.h"

static enum dist_error run(struct zoo *zoo)
{
	const struct dist_ddp_options options = {.static_graph = true};
	bool frozen = zoo->rank == 1 && !zoo->correct;
	struct zoo_model model;
	enum dist_error error;

	zoo_try(zoo_model_new(zoo, &model, &options));
	error = zoo_backward(&model, frozen ? ZOO_HEAD_WEIGHT : 0);
	if (!error)
		/* culprit */
		error = dist_ddp_finish(model.ddp);
	dist_ddp_free(model.ddp);
	return error;
}

const struct zoo_program zoo_19_static_unused = {
	.name = "19_static_unused",
	.world_size = 3,
	.run = run,
};
