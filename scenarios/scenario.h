/*
 * scenario.h - the rank programs that come with Lockstep, by name.
 *
 * Each is an ordinary program over the public headers; only its main() has
 * another name, so that all fit into one executable. `lockstep run NAME [ARGS]`
 * calls it. It parses its arguments, then calls dist_launch() with all-zero
 * options, so that the environment chooses the world. Of most programs without
 * options of their own only what a rank does is here.
 */
#ifndef LOCKSTEP_SCENARIOS_SCENARIO_H
#define LOCKSTEP_SCENARIOS_SCENARIO_H

/* A program's main(): argv[0] is the name, argv[argc] is NULL. Returns one of
 * enum dist_exit. */
typedef int scenario_program(int argc, char **argv);

/* What its ranks run. */
typedef int scenario_rank(void *arg);

struct scenario {
	const char *name;
	const char *summary; /* one line: no capital, no stop */
	scenario_program *main;
	scenario_rank *rank;         /* of one without options, instead */
	const struct faulty *faulty; /* or what they do with --fixed */
};

/* All scenarios sorted by name; the last has the name NULL. */
extern const struct scenario scenario_table[];

/* scenario_find returns the scenario named name, or NULL. */
const struct scenario *scenario_find(const char *name);

/* scenario_main runs it by these arguments, as main() does. */
int scenario_main(const struct scenario *scenario, int argc, char **argv);

/* By argv[0], one of a kind. */
scenario_program workload_main, sweep_main;

scenario_program hello_main, pingpong_main, tutorial_checkpoint_main,
	tutorial_model_parallel_main, tutorial_sgd_main, tutorial_spawn_main;
scenario_rank tutorial_collectives_rank, tutorial_data_parallel_rank,
	tutorial_ddp_rank, tutorial_group_rank, tutorial_isend_irecv_rank,
	tutorial_partition_rank, tutorial_ring_rank, tutorial_rpc_batch_rank,
	tutorial_rpc_ddp_rank, tutorial_rpc_parameter_server_rank,
	tutorial_rpc_pipeline_rank, tutorial_send_recv_rank;

#endif
