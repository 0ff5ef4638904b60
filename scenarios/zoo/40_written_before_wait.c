/*
 * 40 - one rank writes a buffer while an operation still sums it up.
 *
 * Which of the two values is summed is luck, and often the right one: the loss
 * is slightly off.
 *
 * verdict: hazard
 * ranks: 1
 * worlds: sim tcp
 * debug: info
 * seen in: OpenNMT-py#2295
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	float gradient[64] = {1, 2, 3};
	struct dist_work *work;
	enum dist_error error;
	struct dist_tensor g = zoo_floats(gradient);

	/* culprit */
	zoo_try(dist_all_reduce(zoo->group, g, DIST_SUM, &work));
	/* The next batch begins. */
	if (zoo->rank == 1 && !zoo->correct)
		gradient[2] = 0;
	/* partner */
	error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	gradient[2] = 0;
	return error;
}

const struct zoo_program zoo_40_written_before_wait = {"40_written_before_wait",
						       3, run};
