/*
 * What is said of a timeout beside that it was one: who would have come, and
 * whether the run would have ended.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/verdict.h"
#include "lockstep/dist.h"
#include "sim/platform/platform.h"
#include "tests/support/board.h"
#include "tests/support/group.h"
#include "tests/support/seat.h"

/* ---- in words --------------------------------------------------------- */

#define SECOND INT64_C(1000000000)

/* What the report says, on a board of three ranks that made no call. */
static void expect_words(enum check_verdict_kind kind,
			 struct check_forecast forecast, const char *words)
{
	struct check_board *board = board_of(3);
	struct check_facts facts = {
		.now_ns = SECOND, .lost_rank = -1, .forecast = forecast};
	struct check_verdict verdict = {kind, -1};
	char *text = board_report(board, &facts, &verdict);

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

/* Rank 1 is late. The file called arg gets a byte whenever it came, in the copy
 * as well. */
static int come_late(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error;
	FILE *file;

	if (dist_get_rank(group) == 1) {
		(void)dist_compute(group, 9 * MS, "load");
		file = fopen(arg, "a");
		cr_assert(file && fputc('!', file) == '!' && !fclose(file));
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

/* Simulates program; returns how often rank 1 came. */
static long count_arrivals(int (*program)(void *arg), int status)
{
	char path[] = "/tmp/forecast-XXXXXX";
	int fd = mkstemp(path);
	long count;

	cr_assert(fd >= 0);
	cr_redirect_stderr();
	cr_expect_eq(simulate(program, path), status);
	count = lseek(fd, 0, SEEK_END);
	close(fd);
	unlink(path);
	return count;
}

Test(forecast, a_timeout_that_fails_the_job_is_tried_without)
{
	cr_expect_eq(count_arrivals(come_late, DIST_EXIT_TIMEOUT),
		     dist__platform_can_copy() ? 2 : 1);
}

Test(forecast, a_timeout_that_is_dealt_with_is_not)
{
	cr_expect_eq(count_arrivals(come_late_and_do_well, DIST_EXIT_OK), 1);
}

/* Rank 1 is late, and leaves a mark in memory that is shared, and in a file
 * that is open. */
struct marks {
	char *shared;
	int file;
};

static int leave_marks(void *arg)
{
	const struct marks *marks = arg;
	struct dist_group *group = join();
	enum dist_error error;

	error = dist_get_rank(group) == 1 ? dist_compute(group, 9 * MS, "load")
					  : DIST_OK;
	if (!error)
		error = dist_barrier(group, NULL);
	if (!error) {
		++*marks->shared;
		cr_assert_eq(write(marks->file, "!", 1), 1);
	}
	return leave(group, error);
}

Test(forecast, nobody_sees_what_the_copy_does)
{
	char path[] = "/tmp/forecast-XXXXXX";
	struct marks marks = {.file = mkstemp(path)};

	unlink(path);
	cr_assert(marks.file >= 0 && ftruncate(marks.file, 4096) == 0);
	marks.shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			    marks.file, 0);
	cr_assert_neq((void *)marks.shared, MAP_FAILED);
	lseek(marks.file, 0, SEEK_END);
	cr_redirect_stderr();
	cr_expect_eq(simulate(leave_marks, &marks), DIST_EXIT_TIMEOUT);
	cr_expect_eq(*marks.shared, 0);
	cr_expect_eq(lseek(marks.file, 0, SEEK_END), 4096);
	munmap(marks.shared, 4096);
	close(marks.file);
}
