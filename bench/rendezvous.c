/*
 * rendezvous.c - how long the ranks of a job on one machine take to find each
 * other: from the first call of dist_init_process_group() to the last return,
 * by world size and init method. Median and extremes of several runs; figures,
 * not a test.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lockstep/dist.h"

enum { MOST_RANKS = 128, RUNS = 9 };

/* Written by the ranks, in shared memory. */
struct page {
	const char *init_method;
	struct {
		int64_t start_ns, end_ns;
	} ranks[MOST_RANKS];
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int rank_main(void *arg)
{
	struct page *page = arg;
	struct dist_init_options options = {.init_method = page->init_method};
	int64_t start_ns = now_ns();
	struct dist_group *group;
	int rank;

	if (dist_init_process_group(&options, &group))
		return 1;
	rank = dist_get_rank(group);
	page->ranks[rank].end_ns = now_ns();
	page->ranks[rank].start_ns = start_ns;
	return dist_destroy_process_group(group) != DIST_OK;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
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
	qsort(ms, RUNS, sizeof *ms, by_value);
	printf("%4d ranks, %-20s median %8.1f ms (%.1f to %.1f)\n", world_size,
	       how, ms[RUNS / 2], ms[0], ms[RUNS - 1]);
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
	return failed;
}
