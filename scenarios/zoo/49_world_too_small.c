/*
 * 49 - the world size is one too low.
 *
 * It is that of a job with a GPU less. The last rank is one too many; the
 * others meet, and wait for nobody.
 *
 * verdict: rendezvous
 * ranks: 2
 * worlds: tcp
 * seen in: yolov5#4574, metaseq#52, Megatron-LM#782
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error run(struct zoo *zoo)
{
	int world_size = zoo->world_size - !zoo->correct;
	int32_t port;

	zoo_try(zoo_free_port(zoo, &port));
	zoo_try(zoo_join_again(zoo, zoo->rank, world_size, port));
	return dist_barrier(zoo->group, NULL);
}

const struct zoo_program zoo_49_world_too_small = {
	.name = "49_world_too_small",
	.world_size = 3,
	.run = run,
};
