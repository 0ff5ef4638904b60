/*
 * Collectives as flows, beside what they take: they run in order beside the
 * rank, mixed with others, and fail as message by message. Each test is one
 * simulation.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "lockstep/dist.h"
#include "sim/tally.h"
#include "tests/support/group.h"
#include "tests/support/okay.h"

#define STAR "tests/support/star16.xml" /* 1 GB/s, 10 us from host to host */
#define MS   INT64_C(1000000)

static int simulate(int (*rank_main)(void *arg), void *arg)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = STAR,
		.fidelity = "flow",
		.algorithm = "all_reduce=ring",
		.world_size = 4,
		.timeout_ns = 100 * MS,
	};

	return dist_launch(&options, rank_main, arg);
}

static struct dist_tensor phantom(size_t numel)
{
	return dist_tensor(NULL, numel, DIST_FLOAT32);
}

/* ---- order ------------------------------------------------------------- */

/* 6 steps of 10 us and a megabyte, each; what is behind waits for it. */
static int in_order(void *arg)
{
	int64_t *end_ns = arg;
	struct dist_group *group = join();
	struct dist_work *works[3];
	float one = 1;

	okay(dist_all_reduce(group, phantom(1000000), DIST_SUM, &works[0]));
	okay(dist_all_reduce(group, dist_tensor(&one, 1, DIST_FLOAT32),
			     DIST_SUM, &works[1]));
	okay(dist_all_reduce(group, phantom(1000000), DIST_SUM, &works[2]));
	cr_expect_eq(dist_now_ns(group), 0, "submitting takes no time");
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP),
			     DIST_OK);
		if (dist_get_rank(group) == 0)
			end_ns[i] = dist_now_ns(group);
		dist_work_free(works[i]);
	}
	cr_expect_eq(one, 4, "what carries data has its result");
	cr_expect_eq(dist_all_reduce(group, phantom(1000000), DIST_SUM, NULL),
		     DIST_OK);
	return leave(group, DIST_OK);
}

Test(flow, those_of_a_group_run_in_order_with_what_carries_data)
{
	int64_t end_ns[3] = {0};

	const int64_t little = 30; /* six times 4 bytes, and rounding */

	cr_assert_eq(simulate(in_order, end_ns), DIST_EXIT_OK);
	cr_expect_eq(end_ns[0], 6060000);
	cr_expect_geq(end_ns[1], end_ns[0] + 60000);
	cr_expect_leq(end_ns[1], end_ns[0] + 60000 + little);
	cr_expect_geq(end_ns[2], end_ns[1] + 6060000);
	cr_expect_leq(end_ns[2], end_ns[1] + 6060000 + little);
}

/* Once each, asked for in whatever way, and what carries data not at all. */
Test(flow, those_of_a_job_are_counted)
{
	const struct dist__tally *tally = dist__sim_tally();
	int64_t end_ns[3];

	cr_expect_eq(tally->fidelity, DIST__FIDELITY_AUTO);
	cr_assert_eq(simulate(in_order, end_ns), DIST_EXIT_OK);
	cr_expect_eq(tally->fidelity, DIST__FIDELITY_FLOW);
	cr_expect_eq(tally->flows, 3);
	for (int why = 0; why < DIST__BY_NUM; why++)
		cr_expect_eq(tally->messages[why], 0);
}

static int by_messages(void *arg)
{
	struct dist_group *group = join();
	struct dist_work *work;

	(void)arg;
	okay(dist_reduce(group, phantom(8), 0, DIST_SUM, &work));
	okay(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(work);
	okay(dist_reduce(group, phantom(8), 0, DIST_SUM, NULL));
	return leave(group, DIST_OK);
}

Test(flow, so_are_those_that_go_by_messages)
{
	cr_assert_eq(simulate(by_messages, NULL), DIST_EXIT_OK);
	cr_expect_eq(dist__sim_tally()->flows, 0);
	cr_expect_eq(dist__sim_tally()->messages[DIST__BY_TIMETABLE], 2);
}

/* ---- failing ------------------------------------------------------------ */

static int one_stays_away(void *arg)
{
	enum dist_error *error = arg;
	struct dist_group *group = join();

	if (dist_get_rank(group) == 3)
		return dist_recv(group, phantom(8), 0, 0);
	error[dist_get_rank(group)] =
		dist_all_reduce(group, phantom(8), DIST_SUM, NULL);
	return 1;
}

Test(flow, a_rank_that_does_not_come_is_a_deadlock)
{
	enum dist_error errors[3] = {DIST_OK};

	cr_redirect_stderr();
	cr_expect_eq(simulate(one_stays_away, errors), DIST_EXIT_DEADLOCK);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(errors[i], DIST_ERR_DEADLOCK);
}

static int one_is_late(void *arg)
{
	enum dist_error *errors = arg;
	struct dist_group *group = join();
	int rank = dist_get_rank(group);

	if (rank == 3)
		(void)dist_compute(group, 200 * MS, NULL);
	errors[rank] = dist_all_reduce(group, phantom(8), DIST_SUM, NULL);
	return errors[rank] != DIST_OK;
}

Test(flow, a_rank_that_comes_too_late_is_a_timeout)
{
	enum dist_error errors[4] = {DIST_OK};

	cr_redirect_stderr();
	cr_expect_eq(simulate(one_is_late, errors), DIST_EXIT_TIMEOUT);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(errors[i], DIST_ERR_TIMEOUT);
	cr_expect_eq(errors[3], DIST_ERR_PEER_LOST);
}

/* Of pairs that make their groups alone, which so have one number. */
static int one_pair_aborts(void *arg)
{
	static const struct dist_group_options alone = {.members_only = true};
	enum dist_error *errors = arg;
	struct dist_group *group = join(), *pair;
	int rank = dist_get_rank(group);

	okay(dist_new_group(group, (int[]){rank & ~1, rank | 1}, 2, &alone,
			    &pair));
	if (rank == 0)
		dist_abort(pair);
	if (rank == 3)
		(void)dist_compute(group, 50 * MS, NULL);
	for (int i = 0; i < 2 && !errors[rank]; i++)
		errors[rank] =
			dist_all_reduce(pair, phantom(8), DIST_SUM, NULL);
	return 0;
}

Test(flow, an_abort_ends_the_groups_of_that_rank_alone)
{
	enum dist_error errors[4] = {DIST_OK};

	cr_redirect_stderr();
	(void)simulate(one_pair_aborts, errors);
	cr_expect_eq(errors[0], DIST_ERR_ABORTED);
	cr_expect_eq(errors[1], DIST_ERR_PEER_LOST);
	cr_expect_eq(errors[2], DIST_OK);
	cr_expect_eq(errors[3], DIST_OK);
}

static int one_differs(void *arg)
{
	struct dist_group *group = join();
	size_t numel = dist_get_rank(group) == 2 ? 9 : 8;

	(void)arg;
	return dist_all_reduce(group, phantom(numel), DIST_SUM, NULL);
}

Test(flow, ranks_that_disagree_are_a_mismatch)
{
	cr_redirect_stderr();
	cr_expect_eq(simulate(one_differs, NULL), DIST_EXIT_MISMATCH);
}
