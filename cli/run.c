/*
 * run.c - lockstep run: start a scenario or a program in one of the worlds.
 *
 * The options are torchrun's, with '-' or '_' between words, and ours. They
 * end at PROGRAM. What they say goes into the environment, where the program's
 * own dist_launch() or dist_init_process_group() finds it: a program started
 * by hand with the same variables behaves alike.
 */
#include "cli/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/variable.h"
#include "cli/command.h"
#include "cli/refuse.h"
#include "cli/tally.h"
#include "sim/seat/seat.h"
#include "sim/watcher.h"
#include "worlds/worlds.h"

/* ---- the environment ----------------------------------------------------- */

/* The size of the world, for a program that launches its own ranks. A rank
 * number from a launcher around us is not ours to pass on. */
static int export_size(const struct run_plan *plan)
{
	char size[16];

	if (plan->is_rank)
		return 0;
	snprintf(size, sizeof size, "%d",
		 plan->nproc *
			 (plan->world->in_process ? plan->nodes.max_nodes : 1));
	return setenv("WORLD_SIZE", size, 1) || unsetenv("RANK") ? -1 : 0;
}

/* What reports call the program: its name without the folder, and its first
 * word if that is no option, as in "bash train.sh"; a script's name alone. */
static void name_job(const struct run_plan *plan, char *name, size_t size)
{
	char *const *argv = plan->argv + plan->title;
	bool more = !plan->title && argv[1] && *argv[1] != '-';

	snprintf(name, size, "%s%s%s", dist__base_name(argv[0]),
		 more ? " " : "", more ? argv[1] : "");
}

/* Exports the files that the job writes, by options or variables, as they are
 * named from here: a program may change its folder. */
static int export_files(const struct run_request *request)
{
	const struct {
		const char *name, *option;
	} files[] = {
		{"LOCKSTEP_TRACE", request->trace},
		{"LOCKSTEP_JSON", request->json},
		{"LOCKSTEP_JUNIT", request->junit},
		{"LOCKSTEP_SARIF", request->sarif},
		{"LOCKSTEP_DUMP", request->dump},
	};
	char here[PATH_MAX], path[2 * PATH_MAX];
	bool known = getcwd(here, sizeof here) != NULL;
	int failed = 0;

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *file =
			dist__variable_or(files[i].option, files[i].name);

		if (!file)
			continue;
		if (known && *file != '/')
			snprintf(path, sizeof path, "%s/%s", here, file);
		else
			snprintf(path, sizeof path, "%s", file);
		failed |= setenv(files[i].name, path, 1);
	}
	return failed;
}

static int export(const struct run_request *request,
		  const struct run_plan *plan)
{
	const struct {
		const char *name, *value;
	} variables[] = {
		{"LOCKSTEP_BACKEND", plan->world->name},
		{"LOCKSTEP_PLATFORM", request->platform},
		{"LOCKSTEP_LINKS", *plan->links ? plan->links : NULL},
		{"LOCKSTEP_PROFILE", plan->profile},
		{"LOCKSTEP_ALGORITHM", request->algorithm},
		{"LOCKSTEP_FIDELITY", request->fidelity},
		{"LOCKSTEP_ENGINE", request->engine},
		{"LOCKSTEP_P2P", request->p2p},
		{"LOCKSTEP_INTRA", request->intra},
		{"LOCKSTEP_BIND_TO", request->bind_to},
		{"LOCKSTEP_TIMEOUT", request->timeout},
		{"LOCKSTEP_PATIENCE", request->patience},
		{"LOCKSTEP_STACK_SIZE", request->stack_size},
		{"LOCKSTEP_DEBUG", request->debug},
		{"LOCKSTEP_REPLAY", request->replay},
		{"LOCKSTEP_ANNOTATE", request->annotate},
		{"LOCKSTEP_COMPUTE", request->compute},
		{"LOCKSTEP_REPRESENT", request->represent},
		{"LOCKSTEP_EXPLORE", request->explore},
		{"LOCKSTEP_CHECK", request->strict},
		/* Elsewhere the launcher says these. */
		{"ROLE_NAME", request->role},
		{"TORCHELASTIC_RUN_ID", request->rdzv_id},
	};
	char job[256];
	int failed;

	name_job(plan, job, sizeof job);
	failed = setenv("LOCKSTEP_JOB", job, 1) || export_files(request) ||
		 !run_export_python(request, plan);
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		if (variables[i].value)
			failed |= setenv(variables[i].name, variables[i].value,
					 1);
	/* As torchrun: ranks share the processors. */
	if (!plan->world->in_process && plan->nproc > 1)
		failed |= setenv("OMP_NUM_THREADS", "1", 0);
	failed |= export_size(plan);
	failed |= unsetenv("LOCKSTEP_SEAT"); /* of a simulation around us */
	if (!failed)
		return DIST_EXIT_OK;
	return out_of_memory(run_command);
}

/* ---- ranks as processes of a simulation ---------------------------------- */

/* In place of an interpreter a rank: one that forks the ranks. */
static const char forker[] = "lockstep.simulated";

/* Stores what is to be started for job in *argv, to be freed; NULL: those
 * of the plan, once a rank. False: no memory. */
static bool make_arguments(struct run_plan *plan, char ***argv)
{
	int script = plan->title ? plan->title : plan->code, n = 0;

	*argv = NULL;
	if (!plan->is_python || script == 0)
		return true;
	*argv = calloc((size_t)plan->argc + 3, sizeof **argv);
	if (!*argv)
		return false;
	if (plan->title && strcmp(plan->argv[script - 1], "-m") == 0)
		script--;
	for (int i = 0; i < script; i++)
		(*argv)[n++] = plan->argv[i];
	(*argv)[n++] = (char *)"-m";
	(*argv)[n++] = (char *)forker;
	for (int i = script; i < plan->argc; i++)
		(*argv)[n++] = plan->argv[i];
	return true;
}

static int run_seats(struct run_plan *plan)
{
	char **argv;
	struct dist__seat_job job = {.nproc_per_node = plan->nproc};
	int status;

	if (!make_arguments(plan, &argv))
		return out_of_memory(run_command);
	job.argv = argv ? argv : plan->argv;
	job.forks = argv != NULL;
	/* There is nobody in a simulation that real ones could talk to. */
	(void)setenv("LOCKSTEP_TORCH_BACKEND_AS", "gloo,nccl", 0);
	status = dist_launch(NULL, dist__seat_rank, &job);
	free(argv);
	return status;
}

/* ---- starting ----------------------------------------------------------- */

/* The program itself, in this process; an executable does not come back. */
static int start_program(void *arg)
{
	const struct run_plan *plan = arg;

	if (plan->scenario)
		return scenario_main(plan->scenario, plan->argc, plan->argv);
	fflush(NULL);
	execv(plan->argv[0], plan->argv);
	return refuse(run_command, "%s: %s", plan->argv[0], strerror(errno));
}

/* Whether options ask for what only our own launcher does. */
static bool needs_launcher(const struct run_request *request,
			   const struct run_plan *plan)
{
	return !plan->scenario || plan->nodes.max_nodes > 1 ||
	       plan->max_restarts || request->prefix_output ||
	       request->master_addr || request->master_port ||
	       request->rdzv_endpoint || plan->output.log_dir ||
	       plan->output.redirects || plan->output.tee || plan->output.shown;
}

/* Says how collectives were simulated, unless message by message. */
static void tell_fidelity(const struct dist__tally *tally)
{
	char text[512];

	if (tally->fidelity == DIST__FIDELITY_AUTO ||
	    tally->fidelity == DIST__FIDELITY_MESSAGE)
		return;
	tally_describe(tally, text, sizeof text);
	fprintf(stderr, "lockstep %s: fidelity %s%s%s\n", run_command,
		dist__fidelity_name(tally->fidelity), *text ? ": " : "", text);
}

/* The same in a process that is watched: its ranks are all in there, or each is
 * a process that has its seat there. */
static int start_watched(void *arg)
{
	struct run_plan *plan = arg;
	int status = plan->is_whole ? start_program(plan) : run_seats(plan);

	tell_fidelity(dist__sim_tally());
	return status;
}

/*
 * A scenario launches its own ranks, so that what is wrong with its arguments
 * is said once and not by every rank; so does a program with a dist_launch() in
 * a world whose ranks are all in one process. Every other program may be one
 * that knows only the launcher's variables and must be started rank by rank.
 */
static int start(const struct run_request *request, struct run_plan *plan)
{
	const struct dist__job_spec spec = {
		.nproc = plan->nproc,
		.backend = plan->world->name,
		.master_addr = plan->nodes.endpoint_host,
		.master_port = plan->nodes.endpoint_port,
		.timeout_ns = plan->timeout_ns,
		.role = request->role,
		.summary = plan->argv[plan->title],
		.is_python = plan->is_python,
		.max_restarts = plan->max_restarts,
		.monitor_ns = plan->monitor_ns,
		.nodes = plan->nodes,
		.output = plan->output,
		.start = start_program,
		.arg = plan,
	};

	if (plan->world->in_process)
		return dist__sim_watch_run(start_watched, plan,
					   plan->patience_ns);
	if (plan->is_rank || !needs_launcher(request, plan))
		return start_program(plan);
	dist__world_prepare(plan->world, plan->nproc);
	return dist__job_run(&spec);
}

int run_request_start(const struct run_request *request, struct run_plan *plan)
{
	int status = run_plan_make(request, plan);

	if (!status)
		status = export(request, plan);
	return status ? status : start(request, plan);
}

int command_run(int argc, const char **argv)
{
	struct run_request request = {.nproc_per_node = NULL};
	struct run_plan plan = {.nproc = 1};
	int status;

	if (run_options_read(argc, argv, &manual_run, &request, &plan, &status))
		status = run_request_start(&request, &plan);
	run_plan_release(&plan);
	return status;
}
