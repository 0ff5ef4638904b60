/*
 * sim_scale.c - what a simulation costs: processor seconds and peak memory.
 *
 * Each case runs in a child of its own; the figures are the kernel's account
 * of that child (wait4). Figures, not a test: nothing is asserted.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"

struct sweep {
	const char *platform, *algorithm;
	int world_size;
	size_t bytes;
	int64_t simulated_ns; /* written by rank 0 */
};

static int rank_main(void *arg)
{
	struct sweep *sweep = arg;
	struct dist_group *group;
	int64_t start_ns;

	if (dist_init_process_group(NULL, &group))
		return 1;
	start_ns = dist_now_ns(group);
	if (dist_all_reduce(group,
			    dist_tensor(NULL, sweep->bytes / 4, DIST_FLOAT32),
			    DIST_SUM, NULL))
		return 1;
	if (dist_get_rank(group) == 0)
		sweep->simulated_ns = dist_now_ns(group) - start_ns;
	return dist_destroy_process_group(group) != DIST_OK;
}

static int all_reduce(struct sweep *sweep)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = sweep->platform,
		.algorithm = sweep->algorithm,
		.world_size = sweep->world_size,
	};
	int status = dist_launch(&options, rank_main, sweep);

	printf("%4d ranks, all_reduce %s, %3zu MiB, message:  simulated %10.3f "
	       "ms",
	       sweep->world_size, sweep->algorithm, sweep->bytes >> 20,
	       (double)sweep->simulated_ns / 1e6);
	fflush(stdout);
	return status;
}

static int step(void)
{
	const char *lockstep = getenv("LOCKSTEP");

	printf("  64 ranks, a ResNet-50 step, 5 buckets, message:          "
	       "               ");
	fflush(stdout);
	if (!freopen("/dev/null", "w", stdout))
		return 1;
	execlp(lockstep ? lockstep : "lockstep", "lockstep", "predict",
	       "--model", "resnet50", "--platform", "star-64", "--world-size",
	       "64", (char *)NULL);
	return 127;
}

static const struct sweep sweeps[] = {
	{"star-64", "ring", 64, (size_t)100 << 20, 0},
	{"star-1024", "ring", 256, (size_t)100 << 20, 0},
	{"star-1024", "ring", 1024, (size_t)100 << 20, 0},
};

#define CASES (1 + (int)(sizeof sweeps / sizeof sweeps[0]))

static int run_case(int number)
{
	struct sweep sweep;

	if (number == 0)
		return step();
	sweep = sweeps[number - 1];
	return all_reduce(&sweep);
}

/* The child starts afresh from the file, so that its memory is all its own. */
static int measure(const char *self, int number)
{
	struct rusage usage;
	char text[8];
	int status;
	pid_t child;

	snprintf(text, sizeof text, "%d", number);
	fflush(stdout);
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0) {
		execl(self, self, text, (char *)NULL);
		_exit(127);
	}
	if (wait4(child, &status, 0, &usage) != child)
		return 1;
	printf("  %7.2f s CPU  %6.1f MB\n",
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec +
				usage.ru_stime.tv_usec) /
			       1e6,
	       (double)usage.ru_maxrss * 1024 / 1e6);
	return status != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 2)
		return run_case(argv[1][0] - '0');
	for (int number = 0; number < CASES; number++)
		failed |= measure(argv[0], number);
	return failed;
}
