/*
 * 35 - of several handles only the first is waited for.
 *
 * A batch of a send and a receive gives a handle each. The program waits for
 * the first, as if it stood for all, and leaves the group: whether its message
 * was through by then, nobody knows.
 *
 * verdict: left
 * ranks: 0 1 2
 * worlds: sim tcp
 * seen in: pytorch#152938, pytorch#78514, pytorch#75512
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float theirs[4];
	int n = zoo->world_size, rank = zoo->rank;
	const struct dist_p2p_op ops[2] = {
		{DIST_IRECV, zoo_floats(theirs), (rank + n - 1) % n, 0},
		{DIST_ISEND, zoo_floats(zoo->held), (rank + 1) % n, 0}};
	struct dist_work *works[2];
	enum dist_error error;

	/* culprit */
	zoo_try(dist_batch_isend_irecv(zoo->group, ops, 2, works));
	error = dist_work_wait(works[0], DIST_TIMEOUT_OF_GROUP);
	dist_work_free(works[0]);
	zoo->kept = works[1];
	if (!error && zoo->correct)
		error = dist_work_wait(zoo->kept, DIST_TIMEOUT_OF_GROUP);
	return error;
}

const struct zoo_program zoo_35_first_work_only = {
	.name = "35_first_work_only",
	.world_size = 3,
	.run = run,
};
