/*
 * 23 - a rank calls a module more often, where each call gathers parameters.
 *
 * Parameters are sharded, and gathered before each module's forward (ZeRO-3).
 * Rank 1 has an image more in its batch and calls the vision tower twice. The
 * modules are of one size: the gather meets that of another module.
 *
 * verdict: mismatch
 * ranks: 1
 * worlds: sim tcp
 * seen in: DeepSpeed#7998, DeepSpeed#1888
 */
#include "scenarios/zoo/zoo.h"

enum module { VISION, PROJECTOR, DECODER };

static enum dist_error forward(struct dist_group *all, enum module module)
{
	static const char *const paths[] = {"model.vision", "model.projector",
					    "model.decoder"};
	float shard[4] = {(float)module}, whole[12];
	struct dist_group *named =
		dist_label(all, paths[module], (uint64_t)module + 1);

	/* culprit */
	return dist_all_gather_single(named, zoo_floats(whole),
				      zoo_floats(shard), NULL);
}

static enum dist_error run(struct zoo *zoo)
{
	int images = zoo->rank == 1 && !zoo->correct ? 2 : 1;

	for (int i = 0; i < images; i++)
		zoo_try(forward(zoo->group, VISION));
	zoo_try(forward(zoo->group, PROJECTOR));
	return forward(zoo->group, DECODER);
}

const struct zoo_program zoo_23_module_calls = {
	.name = "23_module_calls",
	.world_size = 3,
	.run = run,
};
