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
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"

#define GRADIENTS 1024
#define LOSS_TAG  0

struct options {
	int fixed;
};

/* The wrong order: a point-to-point call under "if rank" in front of a
 * collective, its partner behind it. */
static enum dist_error train_wrong(struct dist_group *group, int logger,
				   int last, struct dist_tensor gradients,
				   struct dist_tensor loss)
{
	int rank = dist_get_rank(group);
	enum dist_error err = DIST_OK;

	if (rank == logger)
		err = dist_recv(group, loss, last, LOSS_TAG);
	if (!err)
		err = dist_all_reduce(group, gradients, DIST_AVG, NULL);
	if (!err && rank == last)
		err = dist_send(group, loss, logger, LOSS_TAG);
	return err;
}

/* The right order: the collective first, on every rank. */
static enum dist_error train_right(struct dist_group *group, int logger,
				   int last, struct dist_tensor gradients,
				   struct dist_tensor loss)
{
	int rank = dist_get_rank(group);
	enum dist_error err;

	err = dist_all_reduce(group, gradients, DIST_AVG, NULL);
	if (!err && rank == last)
		err = dist_send(group, loss, logger, LOSS_TAG);
	if (!err && rank == logger)
		err = dist_recv(group, loss, last, LOSS_TAG);
	return err;
}

static int rank_main(void *arg)
{
	const struct options *options = arg;
	float gradients[GRADIENTS] = {0}, loss = 0.5F;
	struct dist_tensor g = dist_tensor(gradients, GRADIENTS, DIST_FLOAT32);
	struct dist_tensor l = dist_tensor(&loss, 1, DIST_FLOAT32);
	struct dist_group *group;
	enum dist_error err;
	int logger, last;

	if (rank_join(&group))
		return 1;
	/* Two ranks are enough: then rank 0 logs what rank 1 knows. */
	last = dist_get_world_size(group) - 1;
	logger = last > 1 ? 1 : 0;
	if (last < 1)
		err = DIST_ERR_INVALID_ARGUMENT;
	else if (options->fixed)
		err = train_right(group, logger, last, g, l);
	else
		err = train_wrong(group, logger, last, g, l);
	if (!err && dist_get_rank(group) == logger)
		printf("rank %d: the loss is %g\n", logger, (double)loss);
	return rank_leave(
		group, last < 1 ? "deadlock needs two ranks" : "deadlock", err);
}

int deadlock_main(int argc, char **argv)
{
	struct options options = {0};
	const struct poptOption table[] = {
		{"fixed", '\0', POPT_ARG_NONE, &options.fixed, 0,
		 "receive the loss after the all-reduce: no deadlock", NULL},
		POPT_AUTOHELP POPT_TABLEEND};

	if (!arguments_parse(argc, (const char **)argv, table,
			     "[--fixed]\n\nExample: lockstep run --backend sim "
			     "--platform star-8 --nproc-per-node 4 deadlock\n"))
		return DIST_EXIT_USAGE;
	return dist_launch(NULL, rank_main, &options);
}
