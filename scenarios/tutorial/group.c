/*
 * tutorial_group - "Writing Distributed Applications with PyTorch", Collective
 * Communication: an all-reduce on a group of ranks 0 and 1. Every rank makes
 * the call that makes the group; one that is not in it gets none.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/rank.h"

static const int members[] = {0, 1};

int tutorial_group_rank(void *arg)
{
	struct dist_group *world, *group;
	enum dist_error error;
	float data = 1;
	int rank;

	(void)arg;
	if (rank_join(&world))
		return 1;
	rank = dist_get_rank(world);
	error = dist_new_group(world, members, 2, NULL, &group);
	if (error)
		return rank_leave(world, "dist_new_group", error);
	if (group)
		error = dist_all_reduce(group,
					dist_tensor(&data, 1, DIST_FLOAT32),
					DIST_SUM, NULL);
	if (!error)
		printf("Rank %d has data %g\n", rank, (double)data);
	/* The group goes with the world. */
	return rank_leave(world, "dist_all_reduce", error);
}
