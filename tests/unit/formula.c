/*
 * Collectives that take the time of a formula fail, wait and look as those of
 * messages do. Each test is one simulation on a star of 2 links of 5 us.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "lockstep/dist.h"
#include "tests/support/group.h"
#include "tests/support/okay.h"

#define MS    ((int64_t)1000000)
#define STAR  "tests/support/star16.xml"
#define NUMEL ((size_t)1 << 20) /* 4 MiB at 1 GB/s: more than 4 ms a pass */

static int simulate(int ranks, int (*rank_main)(void *arg), void *arg)
{
	const struct dist_launch_options options = {
		.backend = "sim",
		.world_size = ranks,
		.platform = STAR,
		.fidelity = "formula",
		.timeout_ns = 50 * MS,
	};

	return dist_launch(&options, rank_main, arg);
}

static struct dist_tensor phantom(size_t numel)
{
	return dist_tensor(NULL, numel, DIST_FLOAT32);
}

/* ---- who does not come ------------------------------------------------- */

static int one_stays_away(void *arg)
{
	struct dist_group *group = join();
	enum dist_error *errors = arg;
	int rank = dist_get_rank(group);

	if (rank != 2)
		errors[rank] =
			dist_all_reduce(group, phantom(8), DIST_SUM, NULL);
	return leave(group, errors[rank]);
}

Test(formula, a_rank_that_stays_away_is_a_deadlock)
{
	enum dist_error errors[4] = {0};

	cr_redirect_stderr();
	cr_assert_eq(simulate(4, one_stays_away, errors), DIST_EXIT_DEADLOCK);
	for (int rank = 0; rank < 4; rank++)
		cr_expect_eq(errors[rank],
			     rank == 2 ? DIST_OK : DIST_ERR_DEADLOCK);
}

static int one_is_late(void *arg)
{
	struct dist_group *group = join();
	enum dist_error *errors = arg;
	int rank = dist_get_rank(group);

	if (rank == 1)
		okay(dist_compute(group, 80 * MS, NULL));
	errors[rank] = dist_all_reduce(group, phantom(8), DIST_SUM, NULL);
	if (rank == 0)
		cr_expect_eq(dist_now_ns(group), 50 * MS);
	return leave(group, errors[rank]);
}

Test(formula, a_rank_that_is_late_is_a_timeout_at_the_deadline)
{
	enum dist_error errors[2];

	cr_redirect_stderr();
	cr_assert_eq(simulate(2, one_is_late, errors), DIST_EXIT_TIMEOUT);
	cr_expect_eq(errors[0], DIST_ERR_TIMEOUT);
	cr_expect_eq(errors[1], DIST_ERR_PEER_LOST);
}

static int too_long(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error;

	(void)arg;
	error = dist_all_reduce(group, phantom(100 * NUMEL), DIST_SUM, NULL);
	cr_expect_eq(error, DIST_ERR_TIMEOUT);
	cr_expect_eq(dist_now_ns(group), 50 * MS);
	return leave(group, error);
}

Test(formula, a_collective_that_takes_too_long_is_a_timeout)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate(2, too_long, NULL), DIST_EXIT_TIMEOUT);
}

/* ---- who does something else ------------------------------------------- */

static int one_does_another(void *arg)
{
	struct dist_group *group = join();
	enum dist_error *errors = arg;
	int rank = dist_get_rank(group);
	struct dist_work *work;

	errors[rank] = dist_all_reduce(group, phantom(rank == 1 ? 9 : 8),
				       DIST_SUM, &work);
	okay(errors[rank]);
	errors[rank] = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return leave(group, errors[rank]);
}

Test(formula, ranks_that_disagree_are_told)
{
	enum dist_error errors[2];

	cr_redirect_stderr();
	cr_assert_eq(simulate(2, one_does_another, errors), DIST_EXIT_MISMATCH);
	cr_expect_eq(errors[0], DIST_ERR_MISMATCH);
	cr_expect_eq(errors[1], DIST_ERR_MISMATCH);
}

/* ---- order ------------------------------------------------------------- */

/* 2 ranks exchange halves twice: 2 steps of 10 us and 2 MiB at 1 GB/s. */
#define PASS_NS (2 * (10000 + (int64_t)NUMEL * 2))

static int one_after_the_other(void *arg)
{
	struct dist_group *group = join();
	struct dist_work *works[3];

	(void)arg;
	for (int i = 0; i < 3; i++)
		okay(dist_all_reduce(group, phantom(NUMEL), DIST_SUM,
				     &works[i]));
	cr_expect_eq(dist_now_ns(group), 0);
	okay(dist_compute(group, 2 * PASS_NS, NULL));
	cr_expect(dist_work_is_completed(works[1]));
	cr_expect_not(dist_work_is_completed(works[2]));
	while (!dist_work_is_completed(works[2]))
		;
	cr_expect_leq(dist_now_ns(group), 3 * PASS_NS + 2000);
	for (int i = 0; i < 3; i++)
		dist_work_free(works[i]);
	return leave(group, DIST_OK);
}

Test(formula, a_group_does_one_after_the_other)
{
	cr_assert_eq(simulate(2, one_after_the_other, NULL), DIST_EXIT_OK);
}

static int data_between(void *arg)
{
	struct dist_group *group = join();
	float data = (float)dist_get_rank(group);
	struct dist_work *works[3];

	(void)arg;
	for (int i = 0; i < 3; i++)
		okay(dist_all_reduce(
			group,
			i == 1 ? dist_tensor(&data, 1, DIST_FLOAT32)
			       : phantom(NUMEL),
			DIST_SUM, &works[i]));
	okay(dist_work_wait(works[1], DIST_TIMEOUT_OF_GROUP));
	cr_expect_eq(data, 3);
	cr_expect_gt(dist_now_ns(group), 2 * PASS_NS / 2);
	okay(dist_barrier(group, NULL));
	for (int i = 0; i < 3; i++) {
		cr_expect(dist_work_is_completed(works[i]));
		dist_work_free(works[i]);
	}
	return leave(group, DIST_OK);
}

Test(formula, data_arrives_in_its_turn)
{
	cr_assert_eq(simulate(3, data_between, NULL), DIST_EXIT_OK);
}

/* Rank 2 has nothing to send, and nothing to receive. */
static int nothing_for_one(void *arg)
{
	struct dist_group *group = join();
	int rank = dist_get_rank(group);
	const size_t splits[3] = {rank < 2, rank < 2, 0};
	float in[2] = {1, 2}, out[2] = {0, 0};
	size_t numel = rank < 2 ? 2 : 0;

	for (int phantom = 0; phantom < 2; phantom++)
		okay(dist_all_to_all_single(
			group,
			dist_tensor(phantom ? NULL : out, numel, DIST_FLOAT32),
			dist_tensor(phantom ? NULL : in, numel, DIST_FLOAT32),
			splits, splits, NULL));
	cr_expect_eq(out[0], rank < 2 ? rank + 1 : 0);
	(void)arg;
	return leave(group, DIST_OK);
}

Test(formula, a_rank_without_a_part_does_as_the_others)
{
	cr_assert_eq(simulate(3, nothing_for_one, NULL), DIST_EXIT_OK);
}

static int unequal_groups(void *arg)
{
	struct dist_group *world = join(), *pair;
	int rank = dist_get_rank(world);
	const int ranks[] = {1, 3};

	(void)arg;
	okay(dist_new_group(world, ranks, 2, NULL, &pair));
	if (pair) {
		int64_t start_ns = dist_now_ns(pair);

		okay(dist_all_reduce(pair, phantom(NUMEL), DIST_SUM, NULL));
		cr_expect_eq(dist_now_ns(pair) - start_ns, PASS_NS);
	}
	cr_expect((rank % 2 == 1) == (pair != NULL));
	return dist_destroy_process_group(world) != DIST_OK;
}

Test(formula, a_group_of_some_waits_for_them_alone)
{
	cr_assert_eq(simulate(4, unequal_groups, NULL), DIST_EXIT_OK);
}
