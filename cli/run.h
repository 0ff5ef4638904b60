/*
 * run.h - the parts of lockstep run: the command line (run_options.c); the
 * checked plan (run_plan.c, with run_nodes.c and run_output.c for torchrun's
 * options, run_python.c for Python programs); the environment and the start
 * (run.c).
 */
#ifndef LOCKSTEP_CLI_RUN_H
#define LOCKSTEP_CLI_RUN_H

#include <limits.h>

#include "cli/rewiring.h"
#include "core/backend.h"
#include "realbackend/launch/launcher.h"
#include "scenarios/scenario.h"

/* The command line; NULL: not given. */
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
	const char *json, *junit, *sarif; /* files for the verdict */
	const char *annotate;
	const char *dump;
	const char *torch_backend_as;
	const char *compute;
	const char *represent;
	int prefix_output;
	struct rewiring_arguments links;

	/* set by commands other than run; no option */
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

/* The groups of run's options, for a manual whose options begin with a struct
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

/* The checked request. Zeroed at first, except nproc: 1. */
struct run_plan {
	const struct dist__world *world;
	bool is_rank; /* this process is a rank that mpirun or srun started */
	int nproc;    /* ranks on a node */
	int max_restarts;
	int64_t monitor_ns;
	int64_t timeout_ns;
	int64_t patience_ns; /* of a simulation; 0: no limit */
	int master_port;
	struct dist__nodes_spec nodes;
	char endpoint_host[256];
	char run_id[64];
	struct dist__output_spec output; /* its arrays are the plan's */
	char links[DIST__LINKS_SIZE];    /* overrides of links, as text */
	const char *profile; /* as given, or of the simulated GPUs; NULL: the
				built-in one */
	const struct scenario *scenario; /* NULL: an executable file */
	bool is_whole;  /* the scenario is started once and launches its own
			   ranks */
	bool is_python; /* run by an interpreter of Python */
	int argc;
	char **argv;  /* of the program, argv[0] is its file; ends with NULL */
	int title;    /* index in argv of its name in reports */
	int code;     /* index in argv of Python's -c or -; 0: neither */
	char **words; /* of the command line, if argv is another array; else
			 NULL */
	char interpreter[4096]; /* storage that argv[0] may point to */
};

/* The functions below that return int return one of enum dist_exit, after a
 * line on stderr if it is not OK. */

/* The command that runs it, for messages: "run", "check" or "explore". */
extern const char *run_command;

/* run_refuse says what was expected of option, and returns USAGE. */
int run_refuse(const char *option, const char *value, const char *expected);

/* run_number reads all of text as a number from min to max. Returns false if it
 * is no such number. */
bool run_number(const char *text, long min, long max, int *number);

/* run_options_read reads the command line by manual into line, which begins
 * with a struct run_request, and the program with its arguments into plan.
 * Returns false, and sets *status, if there is nothing more to do. The caller
 * releases the plan in any case. */
bool run_options_read(int argc, const char **argv, const struct manual *manual,
		      void *line, struct run_plan *plan, int *status);

/* run_request_start runs the request and returns the job's status. */
int run_request_start(const struct run_request *request, struct run_plan *plan);

/* run_plan_make checks the request and completes the plan. */
int run_plan_make(const struct run_request *request, struct run_plan *plan);
void run_plan_release(struct run_plan *plan);

/* run_choose_nodes fills in the fields for nodes and restarts. */
int run_choose_nodes(const struct run_request *request, struct run_plan *plan);

/* run_choose_output fills in where output goes. */
int run_choose_output(const struct run_request *request, struct run_plan *plan);

/* run_choose_interpreter finds the interpreter of a script or a module, or the
 * program on PATH, so that argv begins with a file. For scenarios, and if there
 * is no such program, it changes nothing. */
int run_choose_interpreter(const struct run_request *request,
			   struct run_plan *plan);

/* run_check_backends checks --torch-backend-as. */
int run_check_backends(const struct run_request *request,
		       struct run_plan *plan);

/* run_find_program stores in path the program that a shell would run for name,
 * which may be a path. Returns false if there is none. */
bool run_find_program(const char *name, char path[PATH_MAX]);

/* run_export_path sets PYTHONPATH so that Python finds our package and imports
 * its sitecustomize first, which waits for torch: see python/sitecustomize.py.
 * Returns false without memory. */
bool run_export_path(void);

/* run_export_python sets the environment that our Python package needs. Returns
 * false without memory. */
bool run_export_python(const struct run_request *request,
		       const struct run_plan *plan);

#endif
