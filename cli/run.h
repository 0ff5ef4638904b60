/*
 * run.h - the parts of lockstep run: what the command line says
 * (run_options.c), what that asks for once it is checked (run_plan.c, with
 * run_nodes.c and run_output.c for torchrun's side of it and run_python.c for
 * programs in Python, and run_seat.c for ranks in a simulation), what stands in
 * the environment before and after (run_environment.c), and the start (run.c).
 */
#ifndef LOCKSTEP_CLI_RUN_H
#define LOCKSTEP_CLI_RUN_H

#include <limits.h>

#include "cli/rewiring.h"
#include "core/backend.h"
#include "realbackend/launch/launcher.h"
#include "scenarios/scenario.h"

/* What the command line says; NULL when not given. */
struct run_request {
	/* ours */
	const char *world_size;
	const char *backend;
	const char *platform;
	const char *profile;
	const char *algorithm;
	const char *fidelity;
	const char *engine;
	const char *p2p;
	const char *intra;
	const char *bind_to;
	const char *timeout;
	const char *patience;
	const char *stack_size;
	const char *debug;
	const char *trace;
	const char *replay;
	const char *json, *junit, *sarif; /* the verdict for machines */
	const char *annotate;
	const char *dump;
	const char *torch_backend_as;
	const char *compute;
	const char *represent;
	int prefix_output;
	struct rewiring_arguments links;

	/* of the commands beside run; no option */
	const char *explore; /* as struct dist_launch_options has it */
	const char *strict;  /* "1": as lockstep check */

	/* torchrun's */
	const char *nnodes;
	const char *nproc_per_node;
	const char *node_rank;
	const char *master_addr;
	const char *master_port;
	const char *rdzv_backend;
	const char *rdzv_endpoint;
	const char *rdzv_id;
	const char *rdzv_conf;
	const char *max_restarts;
	const char *monitor_interval;
	const char *role;
	const char *log_dir;
	const char *redirects;
	const char *tee;
	const char *local_ranks_filter;
	int standalone;
	int no_python;
	int module;
};

/* The groups of run's options, for a manual whose line begins with a struct
 * run_request. */
extern const struct option run_options[], run_torchrun_options[];
#define RUN_GROUPS                                                             \
	{"Options of run", .options = run_options},                            \
		{"Links of sim", rewiring_options,                             \
		 offsetof(struct run_request, links)},                         \
	{                                                                      \
		"As torchrun's (defaults: PET_NNODES, ...)",                   \
			.options = run_torchrun_options                        \
	}

/* What it asks for, once checked. Zeroed but for nproc, 1. */
struct run_plan {
	const struct dist__world *world;
	bool is_rank; /* this process is a rank of mpirun's or srun's */
	int nproc;    /* ranks on a node */
	int max_restarts;
	int64_t monitor_ns;
	int64_t timeout_ns;
	int64_t patience_ns; /* with a simulation; 0: for ever */
	int master_port;
	struct dist__nodes_spec nodes;
	char endpoint_host[256];
	char run_id[64];
	struct dist__output_spec output; /* its arrays are the plan's */
	char links[DIST__LINKS_SIZE];    /* what they have instead, in words */
	const char *profile; /* asked for, or of the simulated GPUs; NULL: the
			      * built-in one */
	const struct scenario *scenario; /* NULL: an executable file */
	bool is_whole;  /* it, which launches its own ranks when it is started
			   once */
	bool is_python; /* run by an interpreter of Python */
	int argc;
	char **argv;  /* the program's, argv[0] its file; ended by NULL */
	int title;    /* which of these names it in reports: 0, or its script */
	int code;     /* which is -c or -, of Python; 0: neither */
	char **words; /* the command line's, if argv is not; else NULL */
	char interpreter[4096]; /* what argv[0] may point to */
};

/* The functions below that return int: one of enum dist_exit, other than OK
 * after a line on stderr. */

/* The command that runs it, for messages: "run", "check" or "explore". */
extern const char *run_command;

/* run_refuse says what was expected of option, and returns USAGE. */
int run_refuse(const char *option, const char *value, const char *expected);

/* run_number reads the whole of words as a number from min to max; false: it
 * is none. */
bool run_number(const char *text, long min, long max, int *number);

/* run_options_read reads the command line by the manual into line, which begins
 * with a struct run_request, and the program's words into the plan. Returns
 * false when there is nothing more to do, with the status. The caller releases
 * the plan in any case. */
bool run_options_read(int argc, const char **argv, const struct manual *manual,
		      void *line, struct run_plan *plan, int *status);

/* run_request_start runs what is asked for; returns the job's status. */
int run_request_start(const struct run_request *request, struct run_plan *plan);

/* run_plan_make checks the request and completes the plan. */
int run_plan_make(const struct run_request *request, struct run_plan *plan);
void run_plan_release(struct run_plan *plan);

/* run_choose_nodes fills in what is about nodes and restarts. */
int run_choose_nodes(const struct run_request *request, struct run_plan *plan);

/* run_choose_output fills in where output goes. */
int run_choose_output(const struct run_request *request, struct run_plan *plan);

/* run_choose_interpreter finds what runs a script or a module, and programs on
 * PATH; argv begins with a file then. Of scenarios, and of what is no program,
 * it leaves everything as it is. */
int run_choose_interpreter(const struct run_request *request,
			   struct run_plan *plan);

/* run_check_backends checks --torch-backend-as. */
int run_check_backends(const struct run_request *request,
		       struct run_plan *plan);

/* run_find_program stores in path the program that a shell would run by this
 * name, or by this path; false: none. */
bool run_find_program(const char *name, char path[PATH_MAX]);

/* run_export_path lets Python find our package; it begins by importing
 * sitecustomize from there, which waits for torch: see python/sitecustomize.py.
 * false: no memory. */
bool run_export_path(void);

/* run_export_python puts what our Python package needs into the environment of
 * a program; false: no memory. */
bool run_export_python(const struct run_request *request,
		       const struct run_plan *plan);

/* run_seats runs a program whose ranks are processes of their own in a
 * simulation, and returns the job's status. */
int run_seats(struct run_plan *plan);

/* run_check_compute checks --compute. */
int run_check_compute(const struct run_request *request, struct run_plan *plan);

/* run_export puts the request into the environment, for the program's own
 * dist_launch() or dist_init_process_group(). */
int run_export(const struct run_request *request, const struct run_plan *plan);

/* run_default returns what torchrun's variable for an option says, PET_NNODES
 * for "nnodes"; NULL: nothing. */
const char *run_default(const char *option);

#endif
