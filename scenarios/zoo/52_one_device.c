/*
 * 52 - two ranks on one device.
 *
 * A start-up script counts the ranks of each half of the machine from 0, and so
 * gives the first device to two of them.
 *
 * verdict: rendezvous
 * ranks: 0 2
 * worlds: nccl
 * seen in: Megatron-LM#661, nccl#1241, helion#2098
 */
#include <stdlib.h>
#include <string.h>

#include "scenarios/zoo/zoo.h"

static void before(bool correct)
{
	const char *local_rank = getenv("LOCAL_RANK");

	if (!correct && local_rank && strcmp(local_rank, "2") == 0)
		setenv("LOCAL_RANK", "0", 1);
}

static enum dist_error run(struct zoo *zoo)
{
	float x[4] = {1};

	return dist_all_reduce(zoo->group, zoo_floats(x), DIST_SUM, NULL);
}

const struct zoo_program zoo_52_one_device = {
	.name = "52_one_device",
	.world_size = 3,
	.run = run,
	.before = before,
};
