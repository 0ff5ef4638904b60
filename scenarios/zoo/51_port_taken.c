/*
 * 51 - a port that was free is taken when it is needed.
 *
 * Rank 0 looks for a free port, tells the others, and leaves it; until it
 * serves there itself, somebody else does.
 *
 * verdict: rendezvous
 * ranks:
 * worlds: tcp
 * seen in: vllm#51018, Megatron-LM#343, pytorch#85604
 */
#include "scenarios/zoo/zoo.h"

#include "lockstep/store.h"

static enum dist_error run(struct zoo *zoo)
{
	struct dist_store *strange = NULL;
	enum dist_error error;
	int32_t port;

	zoo_try(zoo_free_port(zoo, &port));
	if (zoo->rank == 0 && !zoo->correct)
		zoo_try(dist_tcp_store_new("127.0.0.1", port, 0, true,
					   DIST_TIMEOUT_OF_STORE, &strange,
					   NULL));
	error = zoo_join_again(zoo, zoo->rank, zoo->world_size, port);
	if (!error)
		error = dist_barrier(zoo->group, NULL);
	dist_store_free(strange);
	return error;
}

const struct zoo_program zoo_51_port_taken = {
	.name = "51_port_taken",
	.world_size = 3,
	.run = run,
};
