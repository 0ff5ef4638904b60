/*
 * tutorial_partition - "Writing Distributed Applications with PyTorch",
 * Distributed Training, the DataPartitioner: every rank shuffles the samples by
 * the same seed and takes its part, so that no message is needed to agree.
 */
#include "scenarios/scenario.h"

#include <stdint.h>
#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/partition.h"

#define SAMPLES 1000
#define SEED    1234

/* Counts over all ranks how often each sample is used; the answer is 0 when it
 * is once each. */
static enum dist_error count_wrong(struct dist_group *group,
				   struct partition part, int *wrong)
{
	int32_t uses[SAMPLES] = {0};
	enum dist_error error;

	for (size_t i = 0; i < part.num; i++)
		uses[part.index[i]]++;
	error = dist_all_reduce(group, dist_tensor(uses, SAMPLES, DIST_INT32),
				DIST_SUM, NULL);
	for (size_t i = 0; i < SAMPLES; i++)
		*wrong += uses[i] != 1;
	return error;
}

int tutorial_partition_rank(void *arg)
{
	size_t shuffled[SAMPLES];
	struct dist_group *group;
	struct partition part;
	enum dist_error error;
	int rank, size, wrong = 0;

	(void)arg;
	if (rank_join(&group))
		return 1;
	rank = dist_get_rank(group);
	size = dist_get_world_size(group);
	partition_shuffle(shuffled, SAMPLES, SEED, 0);
	part = partition_use(shuffled, SAMPLES, (double)rank / size,
			     (double)(rank + 1) / size);
	error = count_wrong(group, part, &wrong);
	if (!error) {
		printf("Rank %d uses %zu samples:", rank, part.num);
		for (size_t i = 0; i < part.num && i < 3; i++)
			printf(" %zu,", part.index[i]);
		puts(" ...");
	}
	if (!error && wrong && rank == 0)
		fprintf(stderr, "%d samples are not used once\n", wrong);
	return rank_leave(group, "tutorial_partition", error) || wrong;
}
