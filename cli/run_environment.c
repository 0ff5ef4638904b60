/* run_environment.c - variables that lockstep run sets for the program. */
#include "cli/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"

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
	const char *slash = strrchr(argv[0], '/');
	bool more = !plan->title && argv[1] && *argv[1] != '-';

	snprintf(name, size, "%s%s%s", slash ? slash + 1 : argv[0],
		 more ? " " : "", more ? argv[1] : "");
}

int run_export(const struct run_request *request, const struct run_plan *plan)
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
		{"LOCKSTEP_TRACE", request->trace},
		{"LOCKSTEP_REPLAY", request->replay},
		{"LOCKSTEP_JSON", request->json},
		{"LOCKSTEP_JUNIT", request->junit},
		{"LOCKSTEP_SARIF", request->sarif},
		{"LOCKSTEP_ANNOTATE", request->annotate},
		{"LOCKSTEP_DUMP", request->dump},
		{"LOCKSTEP_COMPUTE", request->compute},
		{"LOCKSTEP_REPRESENT", request->represent},
		{"LOCKSTEP_EXPLORE", request->explore},
		{"LOCKSTEP_CHECK", request->strict},
	};
	char job[256];
	int failed;

	name_job(plan, job, sizeof job);
	failed = setenv("LOCKSTEP_JOB", job, 1) ||
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
