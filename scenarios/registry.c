/* registry.c - the scenarios, and how those without options begin. */
#include "scenarios/scenario.h"

#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "scenarios/arguments.h"
#include "scenarios/faulty.h"

const struct scenario scenario_table[] = {
	{"all_reduce", "all-reduce over a range of sizes, timed and checked",
	 .main = sweep_main},
	{"broadcast", "broadcast over a range of sizes, timed and checked",
	 .main = sweep_main},
	{"ddp_step", "data-parallel training steps of a model",
	 .main = workload_main},
	{"deadlock", "a collective that one rank reaches too late: deadlocks",
	 .faulty = &deadlock},
	{"fsdp", "training steps with parameters and gradients sharded",
	 .main = workload_main},
	{"hello", "every rank adds one: the smallest program",
	 .main = hello_main},
	{"hybrid", "training steps of tensor, pipeline and data parallelism",
	 .main = workload_main},
	{"llm", "training steps of a language model in any layout",
	 .main = workload_main},
	{"mismatch", "a reduce in which one rank names another root: fails",
	 .faulty = &mismatch},
	{"moe", "training steps of a mixture of experts",
	 .main = workload_main},
	{"pingpong", "half round trips between two ranks, by size",
	 .main = pingpong_main},
	{"pipeline", "training steps of a model divided into stages",
	 .main = workload_main},
	{"ps", "training steps with parameter servers", .main = workload_main},
	{"race", "a receive from any source that depends on who is first",
	 .faulty = &race},
	{"reduce", "reduce to rank 0 over a range of sizes, timed and checked",
	 .main = sweep_main},
	{"tensor_parallel", "training steps of layers divided among the ranks",
	 .main = workload_main},
	{"tutorial_checkpoint", "rank 0 saves the weights, all ranks load them",
	 .main = tutorial_checkpoint_main},
	{"tutorial_collectives",
	 "every collective once, and its results on each rank",
	 .rank = tutorial_collectives_rank},
	{"tutorial_data_parallel",
	 "replicate, scatter, apply, gather, from rank 0",
	 .rank = tutorial_data_parallel_rank},
	{"tutorial_ddp", "a ToyModel trained by ddp on all ranks",
	 .rank = tutorial_ddp_rank},
	{"tutorial_group", "an all-reduce on a group of two ranks",
	 .rank = tutorial_group_rank},
	{"tutorial_isend_irecv",
	 "a message between two ranks, waited for later",
	 .rank = tutorial_isend_irecv_rank},
	{"tutorial_model_parallel", "a ToyModel over two ranks, in a pipeline",
	 .main = tutorial_model_parallel_main},
	{"tutorial_partition",
	 "a data set shuffled and divided among the ranks",
	 .rank = tutorial_partition_rank},
	{"tutorial_ring", "an all-reduce made of isend and irecv",
	 .rank = tutorial_ring_rank},
	{"tutorial_rpc_batch",
	 "requests of all trainers, collected into one answer",
	 .rank = tutorial_rpc_batch_rank},
	{"tutorial_rpc_ddp",
	 "embeddings on a server, a dense layer trained by ddp",
	 .rank = tutorial_rpc_ddp_rank},
	{"tutorial_rpc_parameter_server",
	 "parameters on a server that trainers call",
	 .rank = tutorial_rpc_parameter_server_rank},
	{"tutorial_rpc_pipeline",
	 "a ToyModel in two stages that pass references",
	 .rank = tutorial_rpc_pipeline_rank},
	{"tutorial_send_recv", "a message between two ranks",
	 .rank = tutorial_send_recv_rank},
	{"tutorial_sgd", "a ToyModel trained on all ranks",
	 .main = tutorial_sgd_main},
	{"tutorial_spawn", "a program that starts its own ranks",
	 .main = tutorial_spawn_main},
	{.name = NULL},
};

const struct scenario *scenario_find(const char *name)
{
	return DIST__NAMED(scenario_table, name);
}

int scenario_main(const struct scenario *scenario, int argc, char **argv)
{
	char example[128];
	const struct manual manual = {.usage = "", .examples = {example}};
	int status;

	if (scenario->main)
		return scenario->main(argc, argv);
	if (scenario->faulty)
		return faulty_main(argc, argv, scenario->faulty);
	snprintf(example, sizeof example,
		 "lockstep run --nproc-per-node 4 %.64s", argv[0]);
	if (!arguments_parse(&manual, &argc, (const char **)argv, NULL,
			     &status))
		return status;
	return dist_launch(NULL, scenario->rank, NULL);
}
