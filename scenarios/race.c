/*
 * race - a receive from any source takes what a later one waits for.
 *
 * Rank 0 takes the first result that comes for that of the last rank, which has
 * the least to do, and then waits for the others by their numbers. On a day
 * when another rank is the first, rank 0 waits for a second result of it, which
 * nobody sends. One run in time ends well; lockstep explore finds the other.
 */
#include "scenarios/faulty.h"

#define MS 1000000

static enum dist_error collect(struct dist_group *group, bool fixed,
			       struct dist_tensor result)
{
	enum dist_error error = DIST_OK;
	int size = dist_get_world_size(group), source;

	for (int i = 0; i < size - 1 && !error; i++)
		if (i == 0 || fixed)
			/* culprit */
			error = dist_recv_any(group, result, 0, &source);
		else
			error = dist_recv(group, result, i, 0);
	return error;
}

static enum dist_error run(struct dist_group *group, bool fixed)
{
	int rank = dist_get_rank(group), last = dist_get_world_size(group) - 1;
	float result[4] = {0};
	struct dist_tensor r = dist_tensor(result, 4, DIST_FLOAT32);
	enum dist_error error;

	if (rank == 0)
		return collect(group, fixed, r);
	error = dist_compute(group, rank == last ? MS : 2 * MS, "work");
	return error ? error : dist_send(group, r, 0, 0);
}

const struct faulty race = {
	3, "receive every result from any source: no race",
	"lockstep explore --platform star-8 --nproc-per-node 3 race", run};
