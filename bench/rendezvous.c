/*
 * rendezvous.c - how long the ranks of a job on one machine take to find each
 * other: from the first call of dist_init_process_group() to the last return,
 * by world size and init method. And a whole job in which each rank sends to
 * every other: how long it takes, and what memory a rank has then. Median and
 * extremes of several runs; figures, not a test.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/statistics.h"
#include "lockstep/dist.h"

enum { MOST_RANKS = 128, RUNS = 9 };

/* What each rank sends to each other one in a whole job: more than the memory
 * holds that two ranks share, in parts so short that they go through it. */
enum { PART = 4096, CALLS = 64 };

/* Written by the ranks, in shared memory. */
struct page {
	const char *init_method;
	struct {
		int64_t start_ns, end_ns;
		long memory_kib; /* its own, and its part of what is shared */
	} ranks[MOST_RANKS];
};

static int rank_main(void *arg)
{
	struct page *page = arg;
	struct dist_init_options options = {.init_method = page->init_method};
	int64_t start_ns = dist__clock_ns();
	struct dist_group *group;
	int rank;

	if (dist_init_process_group(&options, &group))
		return 1;
	rank = dist_get_rank(group);
	page->ranks[rank].end_ns = dist__clock_ns();
	page->ranks[rank].start_ns = start_ns;
	return dist_destroy_process_group(group) != DIST_OK;
}

/* One run, in milliseconds; negative: it failed. */
static double run_once(struct page *page, int world_size)
{
	struct dist_launch_options options = {.backend = "tcp",
					      .world_size = world_size};
	int64_t first_ns = INT64_MAX, last_ns = 0;

	if (dist_launch(&options, rank_main, page) != DIST_EXIT_OK)
		return -1;
	for (int rank = 0; rank < world_size; rank++) {
		if (page->ranks[rank].start_ns < first_ns)
			first_ns = page->ranks[rank].start_ns;
		if (page->ranks[rank].end_ns > last_ns)
			last_ns = page->ranks[rank].end_ns;
	}
	return (double)(last_ns - first_ns) / 1e6;
}

static int measure(struct page *page, int world_size, const char *how)
{
	double ms[RUNS];

	for (int i = 0; i < RUNS; i++) {
		ms[i] = run_once(page, world_size);
		if (ms[i] < 0)
			return 1;
	}
	dist__sort_numbers(ms, RUNS);
	printf("%4d ranks, %-20s median %8.1f ms (%.1f to %.1f)\n", world_size,
	       how, ms[RUNS / 2], ms[0], ms[RUNS - 1]);
	return fflush(stdout);
}

/* ---- a whole job -------------------------------------------------------- */

/* Of this process, pages shared with others by parts; -1: not known. */
static long memory_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof line, file))
		if (sscanf(line, "Pss: %ld kB", &kib) != 1)
			kib = -1;
	if (file)
		fclose(file);
	return kib;
}

static int talk_to_all(void *arg)
{
	static char in[MOST_RANKS * PART], out[MOST_RANKS * PART];
	struct page *page = arg;
	struct dist_group *group;
	enum dist_error error = DIST_OK;
	size_t numel;
	int rank;

	if (dist_init_process_group(NULL, &group))
		return 1;
	rank = dist_get_rank(group);
	numel = (size_t)dist_get_world_size(group) * PART;
	for (int i = 0; i < CALLS && !error; i++)
		error = dist_all_to_all_single(
			group, dist_tensor(out, numel, DIST_UINT8),
			dist_tensor(in, numel, DIST_UINT8), NULL, NULL, NULL);
	if (!error)
		error = dist_barrier(group, NULL);
	page->ranks[rank].memory_kib = memory_kib();
	if (!error)
		error = dist_barrier(group, NULL);
	return dist_destroy_process_group(group) != DIST_OK || error;
}

static int measure_job(struct page *page, int world_size)
{
	struct dist_launch_options options = {.backend = "tcp",
					      .world_size = world_size};
	double ms[RUNS], kib[RUNS];

	for (int i = 0; i < RUNS; i++) {
		int64_t start_ns = dist__clock_ns();

		if (dist_launch(&options, talk_to_all, page) != DIST_EXIT_OK)
			return 1;
		ms[i] = (double)(dist__clock_ns() - start_ns) / 1e6;
		kib[i] = 0;
		for (int rank = 0; rank < world_size; rank++)
			kib[i] = fmax(kib[i],
				      (double)page->ranks[rank].memory_kib);
	}
	dist__sort_numbers(ms, RUNS);
	dist__sort_numbers(kib, RUNS);
	printf("%4d ranks, each sends to all: the job takes %.1f ms (%.1f to "
	       "%.1f), the largest rank has %.1f MiB\n",
	       world_size, ms[RUNS / 2], ms[0], ms[RUNS - 1],
	       kib[RUNS / 2] / 1024);
	return fflush(stdout);
}

int main(void)
{
	struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char url[64];
	int failed = page == MAP_FAILED;

	snprintf(url, sizeof url, "file:///tmp/lockstep-rendezvous-%ld",
		 (long)getpid());
	for (int size = 8; size <= MOST_RANKS && !failed; size *= 2) {
		unsetenv("LOCKSTEP_SECRET");
		page->init_method = "env://";
		failed |= measure(page, size, "env://");
		page->init_method = url;
		failed |= measure(page, size, "file://");
		page->init_method = "env://";
		setenv("LOCKSTEP_SECRET", "measured", 1);
		failed |= measure(page, size, "env:// and a secret");
	}
	unsetenv("LOCKSTEP_SECRET");
	return failed || measure_job(page, 32);
}
