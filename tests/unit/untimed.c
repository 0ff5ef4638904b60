/*
 * Collectives that only serve to measure: no time passes for them in a
 * simulation, and they do what they say. Each test is one simulation.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "lockstep/measure.h"
#include "tests/support/group.h"
#include "tests/support/okay.h"

#define STAR  "tests/support/star16.xml" /* 1 GB/s, 10 us from host to host */
#define RANKS 4
#define MS    INT64_C(1000000)

static int simulate(const char *fidelity, int (*rank_main)(void *arg),
		    void *arg)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = STAR,
		.fidelity = fidelity,
		.algorithm = "all_reduce=ring",
		.world_size = RANKS,
		.timeout_ns = 100 * MS,
	};

	return dist_launch(&options, rank_main, arg);
}

#define FIDELITY_TEST(name, fidelity, rank_main)                               \
	Test(untimed, name##_by_##fidelity)                                    \
	{                                                                      \
		cr_expect_eq(simulate(#fidelity, rank_main, NULL),             \
			     DIST_EXIT_OK);                                    \
	}

/* ---- what they do, and when --------------------------------------------- */

static int hand_over(void *arg)
{
	struct dist_group *group = join(), *sub;
	double mean;
	int64_t most, sum = 1;

	(void)arg;
	most = dist_get_rank(group);
	mean = (double)most;
	okay(dist_compute(group, most * MS, "coming"));
	okay(dist_barrier(dist_untimed(group), NULL));
	cr_expect_eq(dist_now_ns(group), (RANKS - 1) * MS,
		     "all go on when the last has come");
	okay(dist_all_reduce(dist_untimed(group),
			     dist_tensor(&most, 1, DIST_INT64), DIST_MAX,
			     NULL));
	cr_expect_eq(most, RANKS - 1);
	okay(dist_all_reduce(dist_untimed(group),
			     dist_tensor(&mean, 1, DIST_FLOAT64), DIST_AVG,
			     NULL));
	cr_expect_eq(mean, 1.5);
	okay(dist_reduce(dist_untimed(group), dist_tensor(&sum, 1, DIST_INT64),
			 1, DIST_SUM, NULL));
	cr_expect_eq(sum, dist_get_rank(group) == 1 ? RANKS : 1);
	okay(dist_broadcast(dist_untimed(group),
			    dist_tensor(NULL, 1000, DIST_FLOAT32), 0, NULL));
	okay(dist_new_group(dist_untimed(group), NULL, 0, NULL, &sub));
	cr_expect_eq(dist_now_ns(group), (RANKS - 1) * MS);
	okay(dist_barrier(sub, NULL));
	cr_expect_gt(dist_now_ns(group), (RANKS - 1) * MS,
		     "it was said of one call, not of all");
	return leave(group, DIST_OK);
}

FIDELITY_TEST(they_take_no_time, message, hand_over)
FIDELITY_TEST(they_take_no_time, flow, hand_over)
FIDELITY_TEST(they_take_no_time, formula, hand_over)

/* 6 steps of 10 us and 10 MB / 4 at 1 GB/s. */
static int behind(void *arg)
{
	struct dist_group *group = join();
	struct dist_work *work;

	(void)arg;
	okay(dist_all_reduce(group, dist_tensor(NULL, 2500000, DIST_FLOAT32),
			     DIST_SUM, &work));
	okay(dist_barrier(dist_untimed(group), NULL));
	cr_expect_geq(dist_now_ns(group), 15 * MS);
	cr_expect_eq(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP), DIST_OK);
	dist_work_free(work);
	return leave(group, DIST_OK);
}

FIDELITY_TEST(they_wait_for_what_the_group_does_before, message, behind)
FIDELITY_TEST(they_wait_for_what_the_group_does_before, flow, behind)

/* ---- failing ------------------------------------------------------------ */

static int one_stays_away(void *arg)
{
	struct dist_group *group = join();

	(void)arg;
	if (dist_get_rank(group) == 3)
		return dist_recv(group, dist_tensor(NULL, 8, DIST_FLOAT32), 0,
				 0);
	cr_expect_eq(dist_barrier(dist_untimed(group), NULL),
		     DIST_ERR_DEADLOCK);
	return 1;
}

Test(untimed, a_rank_that_does_not_come_is_a_deadlock)
{
	cr_redirect_stderr();
	cr_expect_eq(simulate("message", one_stays_away, NULL),
		     DIST_EXIT_DEADLOCK);
}

static int one_aborts(void *arg)
{
	enum dist_error *errors = arg;
	struct dist_group *group = join();
	int rank = dist_get_rank(group);

	if (rank == 3) {
		cr_expect_eq(dist_compute(group, MS, "waiting"), DIST_OK);
		dist_abort(group);
	} else {
		errors[rank] = dist_barrier(dist_untimed(group), NULL);
	}
	return 1;
}

Test(untimed, who_aborts_lets_the_others_go)
{
	enum dist_error errors[RANKS - 1] = {DIST_OK};

	cr_redirect_stderr();
	(void)simulate("message", one_aborts, errors);
	for (int rank = 0; rank < RANKS - 1; rank++)
		cr_expect_eq(errors[rank], DIST_ERR_PEER_LOST);
}

static int not_the_same(void *arg)
{
	enum dist_error *errors = arg;
	struct dist_group *group = join();
	int64_t values[2] = {0};
	int rank = dist_get_rank(group);

	errors[rank] = dist_all_reduce(
		dist_untimed(group),
		dist_tensor(values, rank == 2 ? 2 : 1, DIST_INT64), DIST_SUM,
		NULL);
	return 1;
}

Test(untimed, ranks_must_agree_about_them)
{
	enum dist_error errors[RANKS] = {DIST_OK};

	cr_redirect_stderr();
	(void)simulate("message", not_the_same, errors);
	cr_expect_eq(errors[0], DIST_ERR_MISMATCH);
	cr_expect_eq(errors[2], DIST_ERR_MISMATCH);
}
