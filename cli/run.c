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
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/refuse.h"
#include "cli/tally.h"
#include "sim/watcher.h"
#include "worlds/worlds.h"

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
		status = run_export(request, plan);
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
