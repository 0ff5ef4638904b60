/*
 * tutorial_isend_irecv - "Writing Distributed Applications with PyTorch",
 * Point-to-Point Communication, non-blocking: the calls return at once, and the
 * tensor is left alone until the wait for the work handle is over.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/rank.h"

static enum dist_error transfer(struct dist_group *group,
				struct dist_tensor tensor)
{
	int rank = dist_get_rank(group);
	struct dist_work *work = NULL;
	enum dist_error error = DIST_OK;

	if (rank == 0) {
		error = dist_isend(group, tensor, 1, 0, &work);
		if (!error)
			printf("Rank 0 started sending\n");
	} else if (rank == 1) {
		error = dist_irecv(group, tensor, 0, 0, &work);
		if (!error)
			printf("Rank 1 started receiving\n");
	}
	if (work)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error;
}

int tutorial_isend_irecv_rank(void *arg)
{
	struct dist_group *group;
	enum dist_error error;
	float data = 0;

	(void)arg;
	if (rank_join(&group))
		return 1;
	if (dist_get_rank(group) == 0)
		data += 1;
	error = transfer(group, dist_tensor(&data, 1, DIST_FLOAT32));
	if (!error)
		printf("Rank %d has data %g\n", dist_get_rank(group),
		       (double)data);
	return rank_leave(group, "tutorial_isend_irecv", error);
}
