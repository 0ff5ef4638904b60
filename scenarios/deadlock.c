/*
 * deadlock - a bug that every user of collectives writes once.
 *
 * The last rank knows the loss, and rank 1 wants to log it. So rank 1 receives
 * it before it joins the all-reduce, and the last rank sends it once the
 * all-reduce is over:
 *
 *	rank 1 waits in recv       for the last rank,
 *	which waits in all_reduce  for rank 1,
 *	and the others wait in all_reduce with it.
 *
 * Nobody is late and nothing is lost, so a timeout would only hide the cause:
 * the ranks wait for each other in a circle. --fixed moves the receive behind
 * the collective, and all is well.
 */
#include "scenarios/faulty.h"

#include <stdio.h>

#define GRADIENTS 1024
#define LOSS_TAG  0

/* The wrong order: a point-to-point call under "if rank" in front of a
 * collective, its partner behind it. */
static enum dist_error train_wrong(struct dist_group *group, int logger,
				   int last, struct dist_tensor gradients,
				   struct dist_tensor loss)
{
	int rank = dist_get_rank(group);
	enum dist_error error = DIST_OK;

	if (rank == logger)
		error = dist_recv(group, loss, last, LOSS_TAG);
	if (!error)
		error = dist_all_reduce(group, gradients, DIST_AVG, NULL);
	if (!error && rank == last)
		error = dist_send(group, loss, logger, LOSS_TAG);
	return error;
}

/* The right order: the collective first, on every rank. */
static enum dist_error train_right(struct dist_group *group, int logger,
				   int last, struct dist_tensor gradients,
				   struct dist_tensor loss)
{
	int rank = dist_get_rank(group);
	enum dist_error error;

	error = dist_all_reduce(group, gradients, DIST_AVG, NULL);
	if (!error && rank == last)
		error = dist_send(group, loss, logger, LOSS_TAG);
	if (!error && rank == logger)
		error = dist_recv(group, loss, last, LOSS_TAG);
	return error;
}

static enum dist_error run(struct dist_group *group, bool fixed)
{
	float gradients[GRADIENTS] = {0}, loss = 0.5F;
	struct dist_tensor g = dist_tensor(gradients, GRADIENTS, DIST_FLOAT32);
	struct dist_tensor l = dist_tensor(&loss, 1, DIST_FLOAT32);
	int last = dist_get_world_size(group) - 1;
	int logger = last > 1 ? 1 : 0; /* of two ranks, rank 0 */
	enum dist_error error =
		(fixed ? train_right : train_wrong)(group, logger, last, g, l);

	if (!error && dist_get_rank(group) == logger)
		printf("rank %d: the loss is %g\n", logger, (double)loss);
	return error;
}

const struct faulty deadlock = {
	2, "receive the loss after the all-reduce: no deadlock",
	"lockstep run --backend sim --platform star-8 "
	"--nproc-per-node 4 deadlock",
	run};
