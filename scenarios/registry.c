#include "scenarios/scenario.h"

#include <stddef.h>
#include <string.h>

const struct scenario scenario_table[] = {
	{"all_reduce", "all-reduce over a range of sizes, timed and checked",
	 sweep_main},
	{"broadcast", "broadcast over a range of sizes, timed and checked",
	 sweep_main},
	{"ddp_step", "data-parallel training steps of a model", workload_main},
	{"deadlock", "a collective that one rank reaches too late: deadlocks",
	 deadlock_main},
	{"fsdp", "training steps with parameters and gradients sharded",
	 workload_main},
	{"hello", "every rank adds one: the smallest program", hello_main},
	{"hybrid", "training steps of tensor, pipeline and data parallelism",
	 workload_main},
	{"llm", "training steps of a language model in any layout", llm_main},
	{"mismatch", "a reduce whose root one rank takes for another: fails",
	 mismatch_main},
	{"moe", "training steps of a mixture of experts", workload_main},
	{"pingpong", "half round trips between two ranks, by size",
	 pingpong_main},
	{"pipeline", "training steps of a model cut into stages",
	 workload_main},
	{"ps", "training steps with parameter servers", workload_main},
	{"race", "a receive from any source that depends on who is first",
	 race_main},
	{"reduce", "reduce to rank 0 over a range of sizes, timed and checked",
	 sweep_main},
	{"tensor_parallel", "training steps of layers cut over the ranks",
	 workload_main},
	{"tutorial_checkpoint", "rank 0 saves the weights, all ranks load them",
	 tutorial_checkpoint_main},
	{"tutorial_collectives",
	 "every collective once, and what it leaves where",
	 tutorial_collectives_main},
	{"tutorial_data_parallel",
	 "replicate, scatter, apply, gather, from rank 0",
	 tutorial_data_parallel_main},
	{"tutorial_ddp", "a ToyModel on every rank, kept alike by ddp",
	 tutorial_ddp_main},
	{"tutorial_group", "an all-reduce on a group of two ranks",
	 tutorial_group_main},
	{"tutorial_isend_irecv",
	 "a message between two ranks, not waited for at once",
	 tutorial_isend_irecv_main},
	{"tutorial_model_parallel", "a ToyModel over two ranks, in a pipeline",
	 tutorial_model_parallel_main},
	{"tutorial_partition", "a data set shuffled and dealt out to the ranks",
	 tutorial_partition_main},
	{"tutorial_ring", "an all-reduce made of isend and irecv",
	 tutorial_ring_main},
	{"tutorial_rpc_batch",
	 "requests of all trainers, collected into one answer",
	 tutorial_rpc_batch_main},
	{"tutorial_rpc_ddp",
	 "embeddings on a server, a dense layer kept alike by ddp",
	 tutorial_rpc_ddp_main},
	{"tutorial_rpc_parameter_server",
	 "parameters on a server that trainers call",
	 tutorial_rpc_parameter_server_main},
	{"tutorial_rpc_pipeline",
	 "a ToyModel in two stages that hand on references",
	 tutorial_rpc_pipeline_main},
	{"tutorial_send_recv", "a message between two ranks",
	 tutorial_send_recv_main},
	{"tutorial_sgd", "a ConvNet that learns digits on all ranks at once",
	 tutorial_sgd_main},
	{"tutorial_spawn", "a program that starts its own ranks",
	 tutorial_spawn_main},
	{NULL, NULL, NULL},
};

const struct scenario *scenario_find(const char *name)
{
	const struct scenario *s;

	for (s = scenario_table; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}
