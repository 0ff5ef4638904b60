/*
 * 49 - fewer ranks come than the job is told of.
 *
 * One of them finds no device to use, and goes home without a word before it
 * joins; the others wait for it.
 *
 * verdict: rendezvous
 * ranks: 2
 * worlds: tcp
 * seen in: yolov5#4574, metaseq#52, Megatron-LM#782
 */
#include "scenarios/zoo/zoo.h"

static enum dist_error go_home(struct zoo *zoo)
{
	enum dist_error error = dist_destroy_process_group(zoo->group);

	zoo->group = NULL;
	return error;
}

static enum dist_error run(struct zoo *zoo)
{
	int32_t port;

	zoo_try(zoo_free_port(zoo, &port));
	if (zoo->rank == 2 && !zoo->correct)
		return go_home(zoo);
	zoo_try(zoo_join_again(zoo, zoo->rank, zoo->world_size, port));
	return dist_barrier(zoo->group, NULL);
}

const struct zoo_program zoo_49_missing_rank = {
	.name = "49_missing_rank",
	.world_size = 3,
	.run = run,
};
