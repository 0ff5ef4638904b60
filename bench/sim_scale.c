/*
 * sim_scale.c - what a simulation costs: processor seconds and peak memory.
 *
 * Each case runs in a child of its own; the figures are the kernel's account
 * of that child (wait4). Figures, not a test: nothing is asserted.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"

/* Of both platforms. */
#define HEAD                                                                   \
	"<?xml version='1.0'?>\n"                                              \
	"<!DOCTYPE platform SYSTEM "                                           \
	"\"https://simgrid.org/simgrid.dtd\">\n"                               \
	"<platform version=\"4.1\">\n"                                         \
	"  <config>\n"                                                         \
	"    <prop id=\"network/model\" value=\"CM02\"/>\n"                    \
	"    <prop id=\"network/crosstraffic\" value=\"0\"/>\n"                \
	"    <prop id=\"network/TCP-gamma\" value=\"0\"/>\n"                   \
	"    <prop id=\"network/weight-S\" value=\"0\"/>\n"                    \
	"  </config>\n"

/* Any number of hosts around a switch. */
static const char star[] =
	HEAD "  <cluster id=\"star\" prefix=\"host-\" suffix=\"\" "
	     "radical=\"0-%d\"\n"
	     "           speed=\"1Gf\" bw=\"25GBps\" lat=\"1us\"\n"
	     "           sharing_policy=\"SPLITDUPLEX\"/>\n"
	     "</platform>\n";

/* So many leaves of 32 hosts each, half as many links up as down. */
static const char tree[] =
	HEAD "  <cluster id=\"tree\" prefix=\"host-\" suffix=\"\" "
	     "radical=\"0-%d\"\n"
	     "           topology=\"FAT_TREE\" "
	     "topo_parameters=\"2;32,%d;1,16;1,1\"\n"
	     "           speed=\"1Gf\" bw=\"25GBps\" lat=\"1us\"\n"
	     "           sharing_policy=\"SPLITDUPLEX\"/>\n"
	     "</platform>\n";

struct job {
	const char *algorithm, *fidelity;
	int world_size;
	int buckets; /* all-reduces, with some computing before each; 0: one
			all-to-all */
	size_t bytes;
	bool on_tree;
	const char *engine;
	int64_t simulated_ns; /* written by rank 0 */
};

#define MOST_BUCKETS 25
#define COMPUTE_NS   1000000 /* before each bucket */

/* One step: the buckets are reduced while the rest is computed. */
static enum dist_error step(struct dist_group *group, const struct job *job)
{
	struct dist_work *works[MOST_BUCKETS];
	enum dist_error error = DIST_OK;
	int started = 0;

	while (started < job->buckets && !error) {
		error = dist_compute(group, COMPUTE_NS, "backward");
		if (!error)
			error = dist_all_reduce(
				group,
				dist_tensor(NULL, job->bytes / 4, DIST_FLOAT32),
				DIST_SUM, &works[started]);
		started += !error;
	}
	for (int i = 0; i < started; i++) {
		if (!error)
			error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
	}
	return error;
}

/* Each rank has a part for each. */
static enum dist_error swap(struct dist_group *group, const struct job *job)
{
	size_t p = (size_t)job->world_size;
	struct dist_tensor parts =
		dist_tensor(NULL, job->bytes / 4 / p * p, DIST_FLOAT32);

	return dist_all_to_all_single(group, parts, parts, NULL, NULL, NULL);
}

static int rank_main(void *arg)
{
	struct job *job = arg;
	struct dist_group *group;
	int64_t start_ns;
	enum dist_error error;

	if (dist_init_process_group(NULL, &group))
		return 1;
	start_ns = dist_now_ns(group);
	error = job->buckets ? step(group, job) : swap(group, job);
	if (dist_get_rank(group) == 0)
		job->simulated_ns = dist_now_ns(group) - start_ns;
	return dist_destroy_process_group(group) || error;
}

static int run_job(struct job *job)
{
	char path[] = "/tmp/lockstep-scale-XXXXXX";
	int fd = mkstemp(path);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = path,
		.algorithm =
			job->buckets ? job->algorithm : "all_to_all=pairwise",
		.fidelity = job->fidelity,
		.engine = job->engine,
		.world_size = job->world_size,
	};
	int status;

	if (!out)
		return 1;
	if (job->on_tree)
		fprintf(out, tree, job->world_size - 1, job->world_size / 32);
	else
		fprintf(out, star, job->world_size - 1);
	fclose(out);
	status = dist_launch(&options, rank_main, job);
	unlink(path);
	printf("%5d ranks, %s, %2d x %3zu MiB %s, %-11s %-7s %-7s simulated "
	       "%10.3f ms",
	       job->world_size, job->on_tree ? "tree" : "star",
	       job->buckets ? job->buckets : 1, job->bytes >> 20,
	       job->buckets ? "all_reduce" : "all_to_all", job->algorithm,
	       job->fidelity, job->engine ? job->engine : "own",
	       (double)job->simulated_ns / 1e6);
	fflush(stdout);
	return status;
}

#define MIB ((size_t)1 << 20)

/* SimGrid's engine runs an actor a rank: what it takes is what Lockstep's own
 * engine is held against. */
static const struct job jobs[] = {
	{"ring", "message", 64, 1, 100 * MIB, false, NULL, 0},
	{"ring", "message", 256, 1, 100 * MIB, false, NULL, 0},
	{"ring", "message", 1024, 1, 100 * MIB, false, NULL, 0},
	{"ring", "message", 1024, 1, 100 * MIB, false, "simgrid", 0},
	{"ring", "message", 1024, 1, 100 * MIB, true, NULL, 0},
	{"ring", "message", 1024, 1, 100 * MIB, true, "simgrid", 0},
	{"pairwise", "message", 256, 0, 16 * MIB, true, NULL, 0},
	{"pairwise", "message", 256, 0, 16 * MIB, true, "simgrid", 0},
	{"pairwise", "message", 1024, 0, 64 * MIB, true, NULL, 0},
	{"ring", "flow", 64, 1, 100 * MIB, false, NULL, 0},
	{"ring", "flow", 256, 1, 100 * MIB, false, NULL, 0},
	{"ring", "flow", 1024, 1, 100 * MIB, false, NULL, 0},
	{"ring", "flow", 4096, 1, 100 * MIB, false, NULL, 0},
	{"ring", "flow", 16384, 1, 100 * MIB, false, NULL, 0},
	{"ring", "flow", 65536, 1, 100 * MIB, false, NULL, 0},
	{"double_tree", "flow", 1024, 1, 100 * MIB, false, NULL, 0},
	{"ring", "flow", 1024, MOST_BUCKETS, 25 * MIB, false, NULL, 0},
	{"ring", "flow", 4096, MOST_BUCKETS, 25 * MIB, false, NULL, 0},
	{"ring", "flow", 16384, MOST_BUCKETS, 25 * MIB, false, NULL, 0},
};

/* A step of lockstep predict: the option that says where, with its value. */
struct prediction {
	const char *workload, *model, *where, *place, *world_size, *fidelity;
};

static int predict(const struct prediction *of)
{
	const char *lockstep = getenv("LOCKSTEP");

	printf("%6s ranks, a step of %s, %-9s      %-8s %24s", of->world_size,
	       of->model, of->workload, of->fidelity, "");
	fflush(stdout);
	if (!freopen("/dev/null", "w", stdout))
		return 1;
	execlp(lockstep ? lockstep : "lockstep", "lockstep", "predict",
	       "--workload", of->workload, "--model", of->model, "--batch", "4",
	       "--flops", "60e12", of->where, of->place, "--world-size",
	       of->world_size, "--fidelity", of->fidelity, (char *)NULL);
	perror("sim_scale: no command lockstep, nor in LOCKSTEP");
	return 127;
}

static const struct prediction predictions[] = {
	{"ddp_step", "resnet50", "--platform", "star-64", "64", "message"},
	{"ddp_step", "resnet50", "--machine", "hgx-h100-400g", "131072",
	 "formula"},
	/* 2 x 16 all-to-alls of a million messages each. */
	{"moe", "gpt_micro", "--platform", "ethernet-100g-1024", "1024",
	 "flow"},
};

#define JOBS        ((int)(sizeof jobs / sizeof jobs[0]))
#define PREDICTIONS ((int)(sizeof predictions / sizeof predictions[0]))
#define CASES       (JOBS + PREDICTIONS)

static int run_case(int number)
{
	struct job job;

	if (number >= JOBS)
		return predict(&predictions[number - JOBS]);
	job = jobs[number];
	return run_job(&job);
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
		return run_case(atoi(argv[1]));
	for (int number = 0; number < CASES; number++)
		failed |= measure(argv[0], number);
	return failed;
}
