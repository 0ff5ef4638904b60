/*
 * 40 - one rank writes a buffer while an operation still sums it up.
 *
 * Which of the two values is summed is luck, and often the right one: the loss
 * is slightly off.
 *
 * verdict: hazard
 * ranks: 1
 * worlds: sim tcp
 * debug: detail
 * seen in: OpenNMT-py#2295
 */
#include <stdlib.h>

#include "scenarios/zoo/zoo.h"

/* Of the size of a bucket rather than of a toy: some pages of memory. */
#define NUMEL 16384

static enum dist_error step(struct zoo *zoo, float *gradient)
{
	struct dist_tensor g = dist_tensor(gradient, NUMEL, DIST_FLOAT32);
	struct dist_work *work;
	enum dist_error error;

	/* culprit */
	zoo_try(dist_all_reduce(zoo->group, g, DIST_SUM, &work));
	/* The next batch begins. */
	for (int i = 0; zoo->rank == 1 && !zoo->correct && i < NUMEL; i++)
		/* access */
		gradient[i] = 0;
	/* partner */
	error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	gradient[2] = 0;
	return error;
}

static enum dist_error run(struct zoo *zoo)
{
	float *gradient = calloc(NUMEL, sizeof *gradient);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	for (int i = 0; gradient && i < NUMEL; i++)
		gradient[i] = 1;
	if (gradient)
		error = step(zoo, gradient);
	free(gradient);
	return error;
}

const struct zoo_program zoo_40_written_before_wait = {
	.name = "40_written_before_wait",
	.world_size = 3,
	.run = run,
};
