/*
 * records.c - what the records and fingerprints cost that every call leaves
 * behind: the same calls with and without, in turns, on the same connections.
 * And what watching memory costs (--debug), in jobs in turns. Medians of the
 * turns, with the quartiles of the differences; figures, not a test.
 *
 * Those who write records are wrapped by the linker, for this program only: see
 * the Makefile.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "base/statistics.h"
#include "check/record.h"
#include "core/state.h"

enum { MOST_TURNS = 2000, JOBS = 7 };

/* ---- what can be left out ----------------------------------------------- */

static bool records = true;

uint64_t __real_dist__fingerprint(const struct dist__op *op, int world_size,
				  const struct dist__label *label);
uint64_t __wrap_dist__fingerprint(const struct dist__op *op, int world_size,
				  const struct dist__label *label);
uint32_t __real_dist__report_begin(const struct dist_group *group,
				   const struct dist__op *op,
				   const struct dist__label *label);
uint32_t __wrap_dist__report_begin(const struct dist_group *group,
				   const struct dist__op *op,
				   const struct dist__label *label);
uint32_t __real_dist__report_again(const struct dist_group *group,
				   const struct dist__op *op,
				   const struct check_call *call);
uint32_t __wrap_dist__report_again(const struct dist_group *group,
				   const struct dist__op *op,
				   const struct check_call *call);
void __real_dist__report_end(const struct dist_group *group,
			     const struct dist__op *op);
void __wrap_dist__report_end(const struct dist_group *group,
			     const struct dist__op *op);
void __real_check_wait(struct check_slot *slot, uint32_t number,
		       const struct check_site *site);
void __wrap_check_wait(struct check_slot *slot, uint32_t number,
		       const struct check_site *site);
void __real_check_seen(struct check_slot *slot, uint32_t number);
void __wrap_check_seen(struct check_slot *slot, uint32_t number);
void __real_check_resume(struct check_slot *slot);
void __wrap_check_resume(struct check_slot *slot);

uint64_t __wrap_dist__fingerprint(const struct dist__op *op, int world_size,
				  const struct dist__label *label)
{
	return records ? __real_dist__fingerprint(op, world_size, label) : 0;
}

uint32_t __wrap_dist__report_begin(const struct dist_group *group,
				   const struct dist__op *op,
				   const struct dist__label *label)
{
	return records ? __real_dist__report_begin(group, op, label) : 0;
}

uint32_t __wrap_dist__report_again(const struct dist_group *group,
				   const struct dist__op *op,
				   const struct check_call *call)
{
	return records ? __real_dist__report_again(group, op, call) : 0;
}

void __wrap_dist__report_end(const struct dist_group *group,
			     const struct dist__op *op)
{
	if (records)
		__real_dist__report_end(group, op);
}

void __wrap_check_wait(struct check_slot *slot, uint32_t number,
		       const struct check_site *site)
{
	if (records)
		__real_check_wait(slot, number, site);
}

void __wrap_check_resume(struct check_slot *slot)
{
	if (records)
		__real_check_resume(slot);
}

void __wrap_check_seen(struct check_slot *slot, uint32_t number)
{
	if (records)
		__real_check_seen(slot, number);
}

/* ---- measuring ---------------------------------------------------------- */

/* What the ranks of a job do. */
struct plan {
	int world_size;
	size_t bytes;
	int turns, calls;  /* in each turn */
	clockid_t clock;   /* elapsed, or the rank's own processor time */
	const char *debug; /* calls with a handle, at this level; or NULL */
};

/* In memory that the ranks share. */
struct page {
	struct plan plan;
	double us[2][MOST_TURNS]; /* a call of rank 0; without, and with */
};

static double now_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static enum dist_error call(struct dist_group *group, struct dist_tensor tensor,
			    bool blocks)
{
	struct dist_work *work = NULL;
	enum dist_error error;

	error = dist_all_reduce(group, tensor, DIST_MAX, blocks ? NULL : &work);
	if (!error && work)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error;
}

static enum dist_error take_turn(struct dist_group *group,
				 const struct plan *plan,
				 struct dist_tensor tensor, double *us)
{
	enum dist_error error = dist_barrier(group, NULL);
	double start_us = now_us(plan->clock);

	for (int i = 0; i < plan->calls && !error; i++)
		error = call(group, tensor, !plan->debug);
	*us = (now_us(plan->clock) - start_us) / plan->calls;
	return error;
}

static int rank_main(void *arg)
{
	struct page *page = arg;
	const struct plan *plan = &page->plan;
	struct dist_tensor tensor = {.numel = plan->bytes, .dtype = DIST_UINT8};
	struct dist_group *group;
	enum dist_error error = DIST_ERR_NO_MEMORY;
	double us;

	if (dist_init_process_group(NULL, &group))
		return 1;
	tensor.data = calloc(plan->bytes, 1);
	if (tensor.data)
		error = take_turn(group, plan, tensor, &us);
	for (int i = 0; i < 2 * plan->turns && !error; i++) {
		records = i % 2 || plan->debug;
		error = take_turn(group, plan, tensor, &us);
		if (dist_get_rank(group) == 0)
			page->us[i % 2][i / 2] = us;
	}
	records = true;
	free(tensor.data);
	return dist_destroy_process_group(group) != DIST_OK || error;
}

static int run(struct page *page)
{
	const struct dist_launch_options options = {
		.backend = "tcp",
		.world_size = page->plan.world_size,
		.debug = page->plan.debug};

	return dist_launch(&options, rank_main, page);
}

static double median(double *values, int num)
{
	dist__sort_numbers(values, (size_t)num);
	return values[num / 2];
}

/* Of neighbours in time: what disturbs one, disturbs both. */
static void print_costs(struct page *page, const char *what)
{
	const struct plan *plan = &page->plan;
	double costs[MOST_TURNS], cost, without;
	int n = plan->turns;

	for (int i = 0; i < n; i++)
		costs[i] = page->us[1][i] - page->us[0][i];
	cost = median(costs, n);
	without = median(page->us[0], n);
	printf("world size %d, %7zu bytes, %-14s %9.3f us a call without "
	       "records; with them %+.3f us (quartiles %+.3f, %+.3f), "
	       "%+.2f %%\n",
	       plan->world_size, plan->bytes, what, without, cost, costs[n / 4],
	       costs[n * 3 / 4], 100 * cost / without);
	fflush(stdout);
}

/* A call alone, then small and large ones between ranks. */
static int measure_records(struct page *page)
{
	static const struct plan plans[] = {
		{1, 8, MOST_TURNS, 100, CLOCK_THREAD_CPUTIME_ID, NULL},
		{2, 8, MOST_TURNS, 20, CLOCK_MONOTONIC, NULL},
		{2, 1 << 20, MOST_TURNS / 4, 2, CLOCK_MONOTONIC, NULL},
		{4, 1 << 20, MOST_TURNS / 4, 2, CLOCK_MONOTONIC, NULL},
	};

	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
		page->plan = plans[i];
		if (run(page) != DIST_EXIT_OK)
			return 1;
		print_costs(page, plans[i].clock == CLOCK_MONOTONIC
					  ? "elapsed"
					  : "processor time");
	}
	return 0;
}

static int measure_levels(struct page *page)
{
	static const char *const levels[] = {"off", "info", "detail"};
	double us[3][JOBS];

	for (int i = 0; i < 3 * JOBS; i++) {
		page->plan = (struct plan){2, 1 << 20,         50,
					   4, CLOCK_MONOTONIC, levels[i % 3]};
		if (run(page) != DIST_EXIT_OK)
			return 1;
		us[i % 3][i / 3] = median(page->us[0], page->plan.turns);
	}
	for (int i = 0; i < 3; i++) {
		double middle = median(us[i], JOBS);

		printf("world size 2, 1048576 bytes, with a handle, --debug "
		       "%-6s "
		       "%9.1f us a call (%.1f to %.1f)\n",
		       levels[i], middle, us[i][0], us[i][JOBS - 1]);
	}
	return 0;
}

int main(void)
{
	struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED || measure_records(page) ||
	       measure_levels(page);
}
