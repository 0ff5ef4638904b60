/*
 * 27 - groups are made at first use, which differs between ranks.
 *
 * Rank 3 needs the group of the odd ranks before that of the high ones, the
 * others the other way round.
 *
 * verdict: mismatch
 * ranks: 3
 * worlds: sim tcp
 * seen in: Megatron-LM#5240, pytorch#119250
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	static const int odd[] = {1, 3}, high[] = {2, 3};
	struct dist_group *a, *b;

	if (zoo->rank == 3 && !zoo->correct) {
		/* culprit */
		zoo_try(dist_new_group(zoo->group, odd, 2, NULL, &a));
		return dist_new_group(zoo->group, high, 2, NULL, &b);
	}
	/* partner */
	zoo_try(dist_new_group(zoo->group, high, 2, NULL, &b));
	return dist_new_group(zoo->group, odd, 2, NULL, &a);
}

const struct zoo_program zoo_27_creation_order = {
	.name = "27_creation_order",
	.world_size = 4,
	.run = run,
};
