/* run_environment.c - variables that lockstep run reads as defaults of options,
 * and those that it sets for the program. */
#include "cli/run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *run_default(const char *option)
{
	char name[64];
	const char *value;

	snprintf(name, sizeof(name), "PET_%s", option);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	value = getenv(name);
	return value && *value ? strdup(value) : NULL;
}

/* The size of the world, for a program that launches its own ranks. A rank
 * number from a launcher around us is not ours to pass on. */
static int export_size(const struct run_plan *plan)
{
	char size[16];

	if (plan->is_rank)
		return 0;
	snprintf(size, sizeof(size), "%d",
		 plan->nproc *
			 (plan->world->is_here ? plan->nodes.max_nodes : 1));
	return setenv("WORLD_SIZE", size, 1) || unsetenv("RANK") ? -1 : 0;
}

int run_export(const struct run_request *request, const struct run_plan *plan)
{
	const struct {
		const char *name, *value;
	} variables[] = {
		{"LOCKSTEP_BACKEND", plan->world->name},
		{"LOCKSTEP_PLATFORM", request->platform},
		{"LOCKSTEP_LINKS", *plan->links ? plan->links : NULL},
		{"LOCKSTEP_PROFILE", request->profile},
		{"LOCKSTEP_ALGORITHM", request->algorithm},
		{"LOCKSTEP_FIDELITY", request->fidelity},
		{"LOCKSTEP_P2P", request->p2p},
		{"LOCKSTEP_INTRA", request->intra},
		{"LOCKSTEP_BIND_TO", request->bind_to},
		{"LOCKSTEP_TIMEOUT", request->timeout},
		{"LOCKSTEP_PATIENCE", request->patience},
		{"LOCKSTEP_DEBUG", request->debug},
		{"LOCKSTEP_TRACE", request->trace},
		{"LOCKSTEP_REPLAY", request->replay},
		{"LOCKSTEP_JSON", request->json},
		{"LOCKSTEP_JUNIT", request->junit},
		{"LOCKSTEP_SARIF", request->sarif},
		{"LOCKSTEP_ANNOTATE", request->annotate},
		{"LOCKSTEP_DUMP", request->dump},
	};
	int failed = 0;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (variables[i].value)
			failed |= setenv(variables[i].name, variables[i].value,
					 1);
	/* As torchrun: ranks share the processors. */
	if (!plan->world->is_here && plan->nproc > 1)
		failed |= setenv("OMP_NUM_THREADS", "1", 0);
	failed |= export_size(plan);
	if (!failed)
		return DIST_EXIT_OK;
	perror("lockstep run: environment");
	return DIST_EXIT_INTERNAL;
}
