/*
 * 49 - two processes come as one rank.
 *
 * The rank is counted by node, and two of the ranks are on one.
 *
 * verdict: rendezvous
 * ranks: 1
 * worlds: tcp
 * seen in: yolov5#4574, metaseq#52, Megatron-LM#782
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	int rank = zoo->rank == 2 && !zoo->correct ? 1 : zoo->rank;
	int32_t port;

	zoo_try(zoo_free_port(zoo, &port));
	zoo_try(zoo_join_again(zoo, rank, zoo->world_size, port));
	return dist_barrier(zoo->group, NULL);
}

const struct zoo_program zoo_49_duplicate_rank = {
	.name = "49_duplicate_rank",
	.world_size = 3,
	.run = run,
};
