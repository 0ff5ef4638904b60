/*
 * What is said of a timeout beside that it was one: who would have come, and
 * whether the run would have ended.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/verdict.h"
#include "lockstep/dist.h"
#include "sim/platform.h"
#include "tests/support/seat.h"

/* ---- in words --------------------------------------------------------- */

#define SECOND INT64_C(1000000000)

/* What the report says, on a board of three ranks that made no call. */
static void expect_words(enum check_verdict_kind kind,
			 struct check_forecast forecast, const char *words)
{
	struct check_board *board = calloc(1, check_board_bytes(3));
	struct check_facts facts = {
		.now_ns = SECOND, .lost_rank = -1, .forecast = forecast};
	struct check_verdict verdict = {kind, -1};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert(board && out);
	check_board_init(board, 3);
	check_report(out, board, &facts, &verdict);
	fclose(out);
	cr_expect(strstr(text, words), "%s", text);
	free(text);
	free(board);
}

Test(forecast, tells_who_comes_late_and_when_all_is_done)
{
	expect_words(CHECK_TIMEOUT,
		     (struct check_forecast){.rank = 2,
					     .came_ns = 4 * SECOND,
					     .ended_ns = 5 * SECOND},
		     "  late, not lost: rank 2 would have come 3.000 s after "
		     "the deadline; the run would have finished at 5.000 s\n");
	expect_words(CHECK_TIMEOUT,
		     (struct check_forecast){.rank = 2, .came_ns = 4 * SECOND},
		     "would have come 3.000 s after the deadline\n");
	expect_words(CHECK_TIMEOUT,
		     (struct check_forecast){.ended_ns = 5 * SECOND},
		     "  late, not lost: the run would have finished at 5.000 "
		     "s\n");
}

Test(forecast, tells_of_a_deadlock_that_a_timeout_came_before)
{
	expect_words(CHECK_DEADLOCK,
		     (struct check_forecast){.stuck_ns = 9 * SECOND},
		     "  a timeout at 1.000 s was the first sign of it; no rank "
		     "could have moved from 9.000 s on\n");
}

/* ---- in simulation ---------------------------------------------------- */

/* A run of two ranks with a deadline of a millisecond. */
static int simulate(int (*program)(void *arg), void *arg)
{
	const struct dist_launch_options options = {.backend = "sim",
						    .platform = STAR4,
						    .world_size = 2,
						    .timeout_ns = MS};

	return dist_launch(&options, program, arg);
}

/* Rank 1 is late. *arg counts how often it came; the copy counts as well. */
static int come_late(void *arg)
{
	_Atomic int *came = arg;
	struct dist_group *group = NULL;
	enum dist_error error;

	cr_assert_eq(dist_init_process_group(NULL, &group), DIST_OK);
	if (dist_get_rank(group) == 1) {
		(void)dist_compute(group, 9 * MS, "load");
		(*came)++;
	}
	error = dist_barrier(group, NULL);
	if (dist_destroy_process_group(group))
		return 1;
	return error != DIST_OK;
}

static int come_late_and_do_well(void *arg)
{
	(void)come_late(arg);
	return 0;
}

static _Atomic int *shared_count(void)
{
	void *memory = mmap(NULL, sizeof(_Atomic int), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	return memory;
}

Test(forecast, a_timeout_that_fails_the_job_is_tried_without)
{
	_Atomic int *came = shared_count();

	cr_redirect_stderr();
	cr_expect_eq(simulate(come_late, came), DIST_EXIT_TIMEOUT);
	cr_expect_eq(*came, dist__platform_can_copy() ? 2 : 1);
}

Test(forecast, a_timeout_that_is_dealt_with_is_not)
{
	_Atomic int *came = shared_count();

	cr_expect_eq(simulate(come_late_and_do_well, came), DIST_EXIT_OK);
	cr_expect_eq(*came, 1);
}
