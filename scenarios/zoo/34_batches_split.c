/*
 * 34 - two ranks cut one big batch at different places.
 *
 * Four messages each way are too many for one batch, so each rank makes two of
 * them, and rank 1 begins with the other half.
 *
 * verdict: deadlock
 * ranks: 0 1
 * worlds: sim tcp
 * seen in: pytorch#174288, pytorch#174942
 */
#include "scenarios/zoo/zoo.h"

enum { HALF = 4 };

/* The two messages of tags from and from + 1, each way. */
static enum dist_error exchange(struct zoo *zoo, int from)
{
	float data[HALF] = {0};
	struct dist_p2p_op ops[HALF];
	struct dist_work *works[HALF];
	enum dist_error error = DIST_OK;

	for (int i = 0; i < HALF; i++)
		ops[i] = (struct dist_p2p_op){
			i % 2 ? DIST_ISEND : DIST_IRECV,
			dist_tensor(&data[i], 1, DIST_FLOAT32), 1 - zoo->rank,
			from + i / 2};
	/* culprit */
	zoo_try(dist_batch_isend_irecv(zoo->group, ops, HALF, works));
	for (int i = 0; i < HALF; i++) {
		if (!error)
			error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
	}
	return error;
}

static enum dist_error run(struct zoo *zoo)
{
	bool turned = zoo->rank == 1 && !zoo->correct;

	zoo_try(exchange(zoo, turned ? 2 : 0));
	return exchange(zoo, turned ? 0 : 2);
}

const struct zoo_program zoo_34_batches_split = {
	.name = "34_batches_split",
	.world_size = 2,
	.run = run,
};
