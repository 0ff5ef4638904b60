/*
 * tutorial_send_recv - "Writing Distributed Applications with PyTorch",
 * Point-to-Point Communication, blocking: rank 0 sends its tensor to rank 1,
 * and both go on once the memory is theirs again.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/rank.h"

int tutorial_send_recv_rank(void *arg)
{
	enum dist_error error = DIST_OK;
	struct dist_group *group;
	struct dist_tensor tensor;
	float data = 0;
	int rank;

	(void)arg;
	if (rank_join(&group))
		return 1;
	rank = dist_get_rank(group);
	tensor = dist_tensor(&data, 1, DIST_FLOAT32);
	if (rank == 0) {
		data += 1;
		error = dist_send(group, tensor, 1, 0);
	} else if (rank == 1) {
		error = dist_recv(group, tensor, 0, 0);
	}
	if (!error)
		printf("Rank %d has data %g\n", rank, (double)data);
	return rank_leave(group, rank == 0 ? "dist_send" : "dist_recv", error);
}
