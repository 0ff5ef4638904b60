/*
 * 42 - the wait for one operation is taken for the end of all.
 *
 * A wait says something about its own handle only: of two sends the second may
 * still need its buffer.
 *
 * verdict: hazard
 * ranks: 0
 * worlds: sim tcp
 * debug: info
 * seen in: pytorch#147309
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error send_both(struct zoo *zoo)
{
	float batch[2][8] = {{1, 2, 3}, {4, 5, 6}};
	struct dist_work *works[2];
	enum dist_error error;

	zoo_try(dist_isend(zoo->group, zoo_floats(batch[0]), 1, 0, &works[0]));
	/* culprit */
	zoo_try(dist_isend(zoo->group, zoo_floats(batch[1]), 2, 0, &works[1]));
	error = dist_work_wait(works[0], DIST_TIMEOUT_OF_GROUP);
	if (!zoo->correct)
		batch[1][0] = 7;
	if (!error)
		/* partner */
		error = dist_work_wait(works[1], DIST_TIMEOUT_OF_GROUP);
	batch[1][0] = 7;
	dist_work_free(works[0]);
	dist_work_free(works[1]);
	return error;
}

static enum dist_error run(struct zoo *zoo)
{
	float batch[8];

	if (zoo->rank == 0)
		return send_both(zoo);
	return dist_recv(zoo->group, zoo_floats(batch), 0, 0);
}

const struct zoo_program zoo_42_wait_for_another = {
	.name = "42_wait_for_another",
	.world_size = 3,
	.run = run,
};
