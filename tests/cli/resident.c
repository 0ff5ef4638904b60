/*
 * resident.c - a rank that, once it has joined and summed, says how much memory
 * it has in use, in KiB, and whether SimGrid is part of it:
 *
 *	rank 1: 4048 KiB, without SimGrid
 */
#include <lockstep/dist.h>

#include <stdio.h>
#include <string.h>

/* VmRSS of /proc/self/status; -1: it does not say. */
static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof line, file))
		(void)sscanf(line, "VmRSS: %ld kB", &kib);
	if (file)
		fclose(file);
	return kib;
}

static bool maps_simgrid(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[4096];
	bool is_mapped = false;

	while (file && !is_mapped && fgets(line, sizeof line, file))
		is_mapped = strstr(line, "libsimgrid") != NULL;
	if (file)
		fclose(file);
	return is_mapped;
}

static int rank_main(void *arg)
{
	struct dist_group *group;
	enum dist_error error;
	float x = 1;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	error = dist_all_reduce(group, dist_tensor(&x, 1, DIST_FLOAT32),
				DIST_SUM, NULL);
	printf("rank %d: %ld KiB, %s SimGrid\n", dist_get_rank(group),
	       resident_kib(), maps_simgrid() ? "with" : "without");
	return dist_destroy_process_group(group) != DIST_OK || error;
}

int main(void)
{
	return dist_launch(NULL, rank_main, NULL);
}
