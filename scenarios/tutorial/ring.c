/*
 * tutorial_ring - "Writing Distributed Applications with PyTorch", Our Own
 * Ring-Allreduce: an all-reduce made of sends and receives, and the exercise
 * that the tutorial leaves to its reader, a tensor cut into chunks.
 *
 * Chunk by chunk, one a rank, the sums travel round the ring; after size - 1
 * turns every rank holds one whole sum, and after as many again all of them. A
 * rank sends 2 (size - 1) / size of the tensor, where whole tensors would make
 * size - 1.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/rank.h"

#define NUMEL 1000

/* Chunk index of data; size of them make up the whole, whatever remains. */
static struct dist_tensor chunk(float *data, int index, int size)
{
	size_t n = (size_t)size, i = (size_t)((index + 2 * size) % size);
	size_t first = i * NUMEL / n, end = (i + 1) * NUMEL / n;

	return dist_tensor(data + first, end - first, DIST_FLOAT32);
}

/* Sends to the right what comes in from the left meanwhile. */
static enum dist_error turn(struct dist_group *group, struct dist_tensor out,
			    struct dist_tensor in)
{
	int rank = dist_get_rank(group), size = dist_get_world_size(group);
	struct dist_work *sent = NULL, *received = NULL;
	enum dist_error error;

	error = dist_isend(group, out, (rank + 1) % size, 0, &sent);
	if (!error)
		error = dist_irecv(group, in, (rank - 1 + size) % size, 0,
				   &received);
	if (!error)
		error = dist_work_wait(received, DIST_TIMEOUT_OF_GROUP);
	if (!error)
		error = dist_work_wait(sent, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(received);
	dist_work_free(sent);
	return error;
}

/* Leaves in data of every rank the sum over the ranks; room is as large. */
static enum dist_error ring_all_reduce(struct dist_group *group, float *data,
				       float *room)
{
	int rank = dist_get_rank(group), size = dist_get_world_size(group);
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < size - 1; i++) {
		struct dist_tensor sum = chunk(data, rank - i - 1, size);
		struct dist_tensor in = chunk(room, rank - i - 1, size);

		error = turn(group, chunk(data, rank - i, size), in);
		for (size_t k = 0; !error && k < sum.numel; k++)
			((float *)sum.data)[k] += ((float *)in.data)[k];
	}
	for (int i = 0; !error && i < size - 1; i++)
		error = turn(group, chunk(data, rank - i + 1, size),
			     chunk(data, rank - i, size));
	return error;
}

static bool equal(const float *a, const float *b)
{
	int i = 0;

	while (i < NUMEL && a[i] == b[i])
		i++;
	return i == NUMEL;
}

int tutorial_ring_rank(void *arg)
{
	float ours[NUMEL], theirs[NUMEL], room[NUMEL];
	struct dist_group *group;
	bool same = false;
	enum dist_error error;
	int rank;

	(void)arg;
	if (rank_join(&group))
		return 1;
	rank = dist_get_rank(group);
	for (int i = 0; i < NUMEL; i++)
		ours[i] = theirs[i] = (float)(i * (rank + 1));
	error = ring_all_reduce(group, ours, room);
	if (!error)
		error = dist_all_reduce(
			group, dist_tensor(theirs, NUMEL, DIST_FLOAT32),
			DIST_SUM, NULL);
	if (!error) {
		same = equal(ours, theirs);
		printf("Rank %d has data %g to %g, %s dist_all_reduce\n", rank,
		       (double)ours[0], (double)ours[NUMEL - 1],
		       same ? "as" : "unlike");
	}
	return rank_leave(group, "tutorial_ring", error) || !same;
}
