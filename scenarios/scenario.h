/*
 * scenario.h - the rank programs that come with Lockstep, by name.
 *
 * Each is an ordinary program over the public headers, with its main() called
 * something else so that all of them fit into one executable: `lockstep run
 * NAME [ARGS]` calls it. It parses its arguments, then calls dist_launch()
 * with all-zero options, so that the environment decides about the world.
 */
#ifndef LOCKSTEP_SCENARIOS_SCENARIO_H
#define LOCKSTEP_SCENARIOS_SCENARIO_H

struct scenario {
	const char *name;
	const char *summary; /* one line: no capital, no stop */

	/* The program's main(). argv[0] is the name, argv[argc] is NULL.
	 * Returns one of enum dist_exit. */
	int (*main)(int argc, char **argv);
};

/* All scenarios in order of name, ended by one whose name is NULL. */
extern const struct scenario scenario_table[];

/* scenario_find returns the scenario named name, or NULL. */
const struct scenario *scenario_find(const char *name);

/* By argv[0], one of a kind. */
int workload_main(int argc, char **argv);
int sweep_main(int argc, char **argv);

int hello_main(int argc, char **argv);
int pingpong_main(int argc, char **argv);
int deadlock_main(int argc, char **argv);
int race_main(int argc, char **argv);
int mismatch_main(int argc, char **argv);
int llm_main(int argc, char **argv);
int tutorial_checkpoint_main(int argc, char **argv);
int tutorial_collectives_main(int argc, char **argv);
int tutorial_data_parallel_main(int argc, char **argv);
int tutorial_ddp_main(int argc, char **argv);
int tutorial_group_main(int argc, char **argv);
int tutorial_isend_irecv_main(int argc, char **argv);
int tutorial_model_parallel_main(int argc, char **argv);
int tutorial_partition_main(int argc, char **argv);
int tutorial_ring_main(int argc, char **argv);
int tutorial_rpc_batch_main(int argc, char **argv);
int tutorial_rpc_ddp_main(int argc, char **argv);
int tutorial_rpc_parameter_server_main(int argc, char **argv);
int tutorial_rpc_pipeline_main(int argc, char **argv);
int tutorial_send_recv_main(int argc, char **argv);
int tutorial_sgd_main(int argc, char **argv);
int tutorial_spawn_main(int argc, char **argv);

#endif
