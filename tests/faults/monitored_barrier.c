/* Who is missing at a monitored barrier is named, by every rank that came. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lockstep/dist.h"

#define WORLD  5
#define SECOND ((int64_t)1000000000)
#define TENTH  (SECOND / 10)

TestSuite(monitored_barrier);

/* Ranks 1 and 3 compute for a second; the others meet. */
struct setup {
	bool wait_all;
	const char *names;
};

/* Whether the ranks that are missing are 1 and, with all, 3. */
static bool are_missing(const struct dist_group *group, bool all)
{
	int ranks[WORLD] = {0};
	int n = dist_monitored_barrier_missing(group, ranks, WORLD);

	return n == 1 + all && ranks[0] == 1 && (!all || ranks[1] == 3) &&
	       dist_monitored_barrier_missing(group, NULL, 0) == n;
}

static int absent_rank(struct dist_group *group)
{
	if (dist_compute(group, SECOND, "lost in thought"))
		return 1;
	/* Too late: the group has failed by now. */
	if (!dist_monitored_barrier(group, TENTH, false))
		return 1;
	(void)dist_destroy_process_group(group);
	return 1;
}

static int rank_main(void *arg)
{
	const struct setup *setup = arg;
	struct dist_group *group;
	enum dist_error error;
	char text[128];
	int rank;

	if (dist_init_process_group(NULL, &group) ||
	    dist_monitored_barrier(group, DIST_TIMEOUT_OF_GROUP, true) ||
	    dist_monitored_barrier_missing(group, NULL, 0) != 0)
		return 99;
	rank = dist_get_rank(group);
	if (rank == 1 || rank == 3)
		return absent_rank(group);
	error = dist_monitored_barrier(group, TENTH, setup->wait_all);
	snprintf(text, sizeof text,
		 "monitored_barrier: %s did not come: timed out", setup->names);
	if (error != DIST_ERR_TIMEOUT || !are_missing(group, setup->wait_all) ||
	    strcmp(dist_error_message(group), text) != 0) {
		fprintf(stderr, "rank %d: %s: %s, not %s\n", rank,
			dist_error_string(error), dist_error_message(group),
			text);
		return 99;
	}
	(void)dist_destroy_process_group(group);
	return 1;
}

static int run(const char *backend, bool wait_all, const char *names)
{
	struct setup setup = {wait_all, names};
	struct dist_launch_options options = {
		.backend = backend,
		.platform = "tests/support/star16.xml",
		.world_size = WORLD,
		.timeout_ns = 20 * SECOND,
	};

	return dist_launch(&options, rank_main, &setup);
}

Test(monitored_barrier, names_the_first_in_simulation)
{
	cr_assert_eq(run("sim", false, "rank 1"), DIST_EXIT_TIMEOUT);
}

Test(monitored_barrier, names_all_in_simulation)
{
	cr_assert_eq(run("sim", true, "ranks 1, 3"), DIST_EXIT_TIMEOUT);
}

Test(monitored_barrier, names_the_first_over_tcp)
{
	cr_assert_eq(run("tcp", false, "rank 1"), DIST_EXIT_TIMEOUT);
}

Test(monitored_barrier, names_all_over_tcp)
{
	cr_assert_eq(run("tcp", true, "ranks 1, 3"), DIST_EXIT_TIMEOUT);
}

/* Rank 0 itself is missing: it does not call, and waits for the others. */
static int without_rank_0(void *arg)
{
	struct dist_group *group;
	enum dist_error error;
	char byte;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 99;
	if (dist_get_rank(group) == 0)
		error = dist_recv(group, dist_tensor(&byte, 1, DIST_UINT8), 1,
				  0);
	else
		error = dist_monitored_barrier(group, TENTH, true);
	if (dist_get_rank(group) > 0 &&
	    !strstr(dist_error_message(group), "rank 0 did not come"))
		return 99;
	(void)dist_destroy_process_group(group);
	return error != DIST_OK;
}

static int run_without_rank_0(const char *backend)
{
	struct dist_launch_options options = {
		.backend = backend,
		.platform = "tests/support/star16.xml",
		.world_size = 3,
		.timeout_ns = 20 * SECOND,
	};

	return dist_launch(&options, without_rank_0, NULL);
}

/* Each waits for the other: the records say deadlock, although there was a
 * deadline. */
Test(monitored_barrier, rank_0_may_be_the_one)
{
	cr_expect_eq(run_without_rank_0("sim"), DIST_EXIT_DEADLOCK);
	cr_expect_eq(run_without_rank_0("tcp"), DIST_EXIT_DEADLOCK);
}
