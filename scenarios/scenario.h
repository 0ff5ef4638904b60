/*
 * scenario.h - the rank programs that come with Lockstep, by name.
 *
 * Each is an ordinary program over the public headers, with its main() called
 * something else so that all of them fit into one executable: `lockstep run
 * NAME [ARGS]` calls it. It parses its arguments, then calls dist_launch()
 * with all-zero options, so that the environment decides about the world. Of
 * most programs without options of their own only what a rank does is here.
 */
#ifndef LOCKSTEP_SCENARIOS_SCENARIO_H
#define LOCKSTEP_SCENARIOS_SCENARIO_H

struct scenario {
	const char *name;
	const char *summary; /* one line: no capital, no stop */

	/* The program's main(), or else what its ranks run. argv[0] is the
	 * name, argv[argc] is NULL. Returns one of enum dist_exit. */
	int (*main)(int argc, char **argv);
	int (*rank)(void *arg);
	const struct faulty *faulty; /* or what they do with --fixed */
};

/* All scenarios in order of name, ended by one whose name is NULL. */
extern const struct scenario scenario_table[];

/* scenario_find returns the scenario named name, or NULL. */
const struct scenario *scenario_find(const char *name);

/* scenario_main runs it by these arguments, as main() does. */
int scenario_main(const struct scenario *scenario, int argc, char **argv);

/* By argv[0], one of a kind. */
int workload_main(int argc, char **argv);
int sweep_main(int argc, char **argv);

int hello_main(int argc, char **argv);
int pingpong_main(int argc, char **argv);
int llm_main(int argc, char **argv);
int tutorial_checkpoint_main(int argc, char **argv);
int tutorial_collectives_rank(void *arg);
int tutorial_data_parallel_rank(void *arg);
int tutorial_ddp_rank(void *arg);
int tutorial_group_rank(void *arg);
int tutorial_isend_irecv_rank(void *arg);
int tutorial_model_parallel_main(int argc, char **argv);
int tutorial_partition_rank(void *arg);
int tutorial_ring_rank(void *arg);
int tutorial_rpc_batch_rank(void *arg);
int tutorial_rpc_ddp_rank(void *arg);
int tutorial_rpc_parameter_server_rank(void *arg);
int tutorial_rpc_pipeline_rank(void *arg);
int tutorial_send_recv_rank(void *arg);
int tutorial_sgd_main(int argc, char **argv);
int tutorial_spawn_main(int argc, char **argv);

#endif
