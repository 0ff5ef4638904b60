/* Lanes of several groups at work at once over one transport, for the thread
 * sanitizer: 0 when every sum is right. */
#include <stdio.h>

#include "lockstep/dist.h"

enum { WORLD = 3, GROUPS = 4, ROUNDS = 30, NUMEL = 3000 };

/* All ranks, and the pairs {i, i + 1}: each rank is in three of the four. */
static int make_groups(struct dist_group *all, struct dist_group **groups)
{
	groups[WORLD] = all;
	for (int i = 0; i < WORLD; i++) {
		const int pair[] = {i, (i + 1) % WORLD};

		if (dist_new_group(all, pair, 2, NULL, &groups[i]))
			return 1;
	}
	return 0;
}

/* One all-reduce of ones in every group, all of them in flight. */
static int reduce_in_all(struct dist_group **groups)
{
	static float data[GROUPS][NUMEL];
	struct dist_work *works[GROUPS] = {NULL};
	int wrong = 0;

	for (int i = 0; i < GROUPS; i++) {
		for (int e = 0; e < NUMEL; e++)
			data[i][e] = 1;
		if (groups[i] &&
		    dist_all_reduce(groups[i],
				    dist_tensor(data[i], NUMEL, DIST_FLOAT32),
				    DIST_SUM, &works[i]))
			return 1;
	}
	for (int i = GROUPS - 1; i >= 0; i--) {
		if (!groups[i])
			continue;
		if (dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP))
			return 1;
		dist_work_free(works[i]);
		wrong += data[i][NUMEL - 1] !=
			 (float)dist_get_world_size(groups[i]);
	}
	return wrong;
}

static int rank_main(void *arg)
{
	struct dist_group *all, *groups[GROUPS];
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &all) || make_groups(all, groups))
		return 1;
	for (int round = 0; round < ROUNDS && !wrong; round++)
		wrong = reduce_in_all(groups);
	return dist_destroy_process_group(all) || wrong;
}

int main(void)
{
	const struct dist_launch_options options = {.backend = "tcp",
						    .world_size = WORLD};
	int status = dist_launch(&options, rank_main, NULL);

	printf("%s overlapping groups\n", status ? "FAIL" : "ok  ");
	return status;
}
