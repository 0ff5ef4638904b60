/*
 * 36 - the two ends of a message have different tags.
 *
 * A back end that ignores tags delivers it all the same, to whoever receives
 * next.
 *
 * verdict: deadlock
 * ranks: 0 1
 * worlds: tcp
 * seen in: pytorch#94819, pytorch#125079
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float activation[4] = {0}, gradient[4] = {0};
	struct dist_tensor a = zoo_floats(activation), g = zoo_floats(gradient);
	struct dist_group *all = zoo->group;
	int tag = zoo->correct ? 1 : 2;

	if (zoo->rank == 0) {
		zoo_try(dist_send(all, a, 1, 1));
		/* culprit */
		return dist_recv(all, g, 1, 7);
	}
	/* partner */
	zoo_try(dist_recv(all, a, 0, tag));
	return dist_send(all, g, 0, 7);
}

const struct zoo_program zoo_36_tag_mismatch = {
	.name = "36_tag_mismatch",
	.world_size = 2,
	.run = run,
};
