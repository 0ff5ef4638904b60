/*
 * 02 - one rank calls another kind of collective.
 *
 * The rank that skipped an expert goes straight to the all-reduce of the
 * gradients; the others still exchange tokens.
 *
 * verdict: mismatch
 * ranks: 3
 * worlds: sim tcp
 * seen in: pytorch#72843
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error exchange(struct dist_group *all, struct dist_tensor out,
				struct dist_tensor in)
{
	/* partner */
	return dist_all_to_all_single(all, out, in, NULL, NULL, NULL);
}

static enum dist_error run(struct zoo *zoo)
{
	float tokens[4] = {1, 2, 3, 4}, routed[4], gradients[4] = {0};
	struct dist_tensor t = zoo_floats(tokens), r = zoo_floats(routed);
	struct dist_tensor g = zoo_floats(gradients);
	struct dist_group *all = zoo->group;

	if (zoo->rank != 3 || zoo->correct)
		zoo_try(exchange(all, r, t));
	/* culprit */
	return dist_all_reduce(all, g, DIST_SUM, NULL);
}

const struct zoo_program zoo_02_other_kind = {
	.name = "02_other_kind",
	.world_size = 4,
	.run = run,
};
