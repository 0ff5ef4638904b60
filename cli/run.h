/*
 * run.h - the parts of lockstep run: what the command line says
 * (run_options.c), what that asks for once it is checked (run_plan.c, with
 * run_nodes.c and run_output.c for torchrun's side of it), what stands in the
 * environment before and after (run_environment.c), and the start (run.c).
 */
#ifndef LOCKSTEP_CLI_RUN_H
#define LOCKSTEP_CLI_RUN_H

#include "cli/rewiring.h"
#include "core/backend.h"
#include "realbackend/tcp/launcher.h"
#include "scenarios/scenario.h"

/* What the command line says; strings are popt's, NULL when not given. */
struct run_request {
	/* ours */
	char *world_size;
	char *backend;
	char *platform;
	char *profile;
	char *algorithm;
	char *fidelity;
	char *p2p;
	char *intra;
	char *bind_to;
	char *timeout;
	char *patience;
	char *debug;
	char *trace;
	char *replay;
	char *json, *junit, *sarif; /* the verdict for machines */
	char *annotate;
	char *dump;
	int prefix_output;
	struct rewiring_arguments links;

	/* torchrun's */
	char *nnodes;
	char *nproc_per_node;
	char *node_rank;
	char *master_addr;
	char *master_port;
	char *rdzv_backend;
	char *rdzv_endpoint;
	char *rdzv_id;
	char *rdzv_conf;
	char *max_restarts;
	char *monitor_interval;
	char *role;
	char *log_dir;
	char *redirects;
	char *tee;
	char *local_ranks_filter;
	int standalone;
	int no_python;
};

struct poptOption;

/* What a command has beyond lockstep run. */
struct run_extra {
	const char *summary; /* for --help, behind the command's name */
	const char *title;   /* of its options there */
	const struct poptOption *options; /* ended as popt has it */

	/* Checks them and sets what they change; returns as those below. */
	int (*accept)(struct run_request *request, void *arg);
	void *arg;
};

/* What it asks for, once checked. Zeroed but for nproc, 1. */
struct run_plan {
	const struct dist__world *world;
	bool is_rank; /* this process is a rank of mpirun's or srun's */
	int nproc;    /* ranks on a node */
	int max_restarts;
	int64_t monitor_ns;
	int64_t timeout_ns;
	int master_port;
	struct dist__nodes_spec nodes;
	char endpoint_host[256];
	char run_id[64];
	struct dist__output_spec output; /* its arrays are the plan's */
	char links[DIST__LINKS_SIZE];    /* what they have instead, in words */
	const struct scenario *scenario; /* NULL: an executable file */
	int argc;
	char **argv; /* the program's, argv[0] its name; ended by NULL */
};

/* The functions below that return int: one of enum dist_exit, other than OK
 * after a line on stderr. */

/* run_refuse says what was expected of option, and returns USAGE. */
int run_refuse(const char *option, const char *value, const char *expected);

/* run_number reads the whole of words as a number from min to max; false: it
 * is none. */
bool run_number(const char *words, long min, long max, int *number);

/* run_seconds reads seconds, at least 0 and less than 1e9, as nanoseconds. */
bool run_seconds(const char *words, int64_t *ns);

/* run_given returns the option if it was given, else the variable if it says
 * something, else NULL. */
const char *run_given(const char *option, const char *variable);

/* run_with is lockstep run with more options; extra NULL: none. */
int run_with(int argc, const char **argv, const struct run_extra *extra);

/* run_options_read reads the command line, and the program's words into the
 * plan. The caller releases both in any case. */
int run_options_read(int argc, const char **argv, const struct run_extra *extra,
		     struct run_request *request, struct run_plan *plan);
void run_options_release(struct run_request *request);

/* run_plan_make checks the request and completes the plan. */
int run_plan_make(const struct run_request *request, struct run_plan *plan);
void run_plan_release(struct run_plan *plan);

/* run_choose_nodes fills in what is about nodes and restarts. */
int run_choose_nodes(const struct run_request *request, struct run_plan *plan);

/* run_choose_output fills in where output goes. */
int run_choose_output(const struct run_request *request, struct run_plan *plan);

/* run_export puts the request into the environment, for the program's own
 * dist_launch() or dist_init_process_group(). */
int run_export(const struct run_request *request, const struct run_plan *plan);

/* run_default returns what torchrun's variable for an option says, PET_NNODES
 * for "nnodes", in memory that the caller frees; NULL: nothing. */
char *run_default(const char *option);

#endif
