/*
 * 17 - each rank counts the tags by itself.
 *
 * A library tags the messages of a call by the number of the call. Ranks 0 and
 * 1 made one call more than the others; in the next call of all four, their
 * tags are not those of ranks 2 and 3, and nothing passes from 1 to 2.
 *
 * verdict: deadlock
 * ranks: 1 2
 * worlds: sim tcp
 * seen in: torchcomms#2964
 */
#include "scenarios/zoo/zoo.h"

struct counted {
	struct dist_group *group;
	int calls;
};

/* A token from rank 0 through all ranks below size and back. */
static enum dist_error pass_token(struct counted *counted, int size)
{
	struct dist_group *all = counted->group;
	int rank = dist_get_rank(all), tag = counted->calls++;
	float token = 1;
	struct dist_tensor t = dist_tensor(&token, 1, DIST_FLOAT32);

	if (rank == 0)
		zoo_try(dist_send(all, t, 1, tag));
	/* culprit */
	zoo_try(dist_recv(all, t, (rank + size - 1) % size, tag));
	if (rank > 0)
		zoo_try(dist_send(all, t, (rank + 1) % size, tag));
	return DIST_OK;
}

static enum dist_error run(struct zoo *zoo)
{
	struct counted counted = {zoo->group, 0};

	if (zoo->rank < 2)
		zoo_try(pass_token(&counted, 2));
	else if (zoo->correct)
		counted.calls++;
	return pass_token(&counted, zoo->world_size);
}

const struct zoo_program zoo_17_counter_skew = {
	.name = "17_counter_skew",
	.world_size = 4,
	.run = run,
};
