#include "realbackend/store/scheduler.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/variable.h"

/* Ports for jobs with a number: FIRST_PORT and the NUM_PORTS - 1 behind it. */
#define FIRST_PORT    15000
#define NUM_PORTS     14000
#define TORCHRUN_PORT 29500

static const struct dist__scheduler schedulers[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
	 "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_JOB_ID"},
	{"PMIX_RANK", "SLURM_STEP_NUM_TASKS", NULL, "PMIX_NAMESPACE"},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, "SLURM_JOB_ID"},
};

const struct dist__scheduler *dist__scheduler_find(void)
{
	/* Slurm sets SLURM_PROCID for a batch script too, which is no rank;
	 * the size of a step it sets for what srun starts alone. */
	for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++)
		if (dist__variable(schedulers[i].rank) &&
		    dist__variable(schedulers[i].size))
			return &schedulers[i];
	return NULL;
}

/* The first host of a list such as "a[003-007,9]-x,b": "a003-x". */
static bool first_host(const char *list, char *host, size_t size)
{
	size_t plain = strcspn(list, "[,"), number = 0, suffix = 0;
	const char *inside, *behind;
	int len;

	inside = behind = list + plain;
	if (*inside == '[') {
		inside++;
		number = strcspn(inside, "-,]");
		behind = strchr(inside, ']');
		if (!behind)
			return false;
		behind++;
		suffix = strcspn(behind, ",");
	}
	len = snprintf(host, size, "%.*s%.*s%.*s", (int)plain, list,
		       (int)number, inside, (int)suffix, behind);
	return len > 0 && (size_t)len < size;
}

bool dist__scheduler_host(char *host, size_t size)
{
	const char *list = getenv("SLURM_STEP_NODELIST");

	if (!list || !*list)
		list = getenv("SLURM_JOB_NODELIST");
	return list && *list && first_host(list, host, size);
}

/* FNV-1a, 32 bits. */
static uint32_t mix(uint32_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT32_C(16777619);
	return hash;
}

int dist__scheduler_port(const struct dist__scheduler *scheduler)
{
	uint32_t hash = UINT32_C(2166136261);

	if (!scheduler->job || !dist__variable(scheduler->job))
		return TORCHRUN_PORT;
	hash = mix(hash, getenv(scheduler->job));
	hash = mix(hash, getenv("SLURM_STEP_ID"));
	return FIRST_PORT + (int)(hash % NUM_PORTS);
}
