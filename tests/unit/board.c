/* A board whose ranks write where they must not. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realbackend/launch/board.h"
#include "tests/support/board_fuzz.h"
#include "tests/support/okay.h"

Test(board, survives_scribbles)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		const char *failure = board_fuzz_job(seed);

		cr_assert_null(failure, "seed %llu: %s",
			       (unsigned long long)seed, failure);
	}
}

/* The one of 52,000 that crashed: a wait in none of its calls, and one that was
 * refused. */
Test(board, survives_a_wait_in_no_call)
{
	const char *failure = board_fuzz_job(900112407);

	cr_assert_null(failure, "%s", failure);
}

Test(board, a_rank_reaches_its_own_records_only)
{
	struct check_slot *slots[2];
	struct check_board *board;
	uint32_t world_size;
	int fd;

	okay(dist__board_create(2, &fd));
	for (int rank = 0; rank < 2; rank++) {
		slots[rank] = dist__board_slot(fd, rank, &world_size);
		cr_assert_not_null(slots[rank]);
		cr_expect_eq(world_size, 2);
	}
	cr_expect_null(dist__board_slot(fd, 2, &world_size));
	slots[1]->calls = 7;
	memset(slots[0], 0xff, sizeof *slots[0]);
	board = dist__board_copy(fd, 2);
	cr_assert_not_null(board);
	cr_expect(board->slots[0].damaged);
	cr_expect_eq(board->slots[0].state, CHECK_RANK_UNKNOWN);
	cr_expect_not(board->slots[1].damaged);
	cr_expect_eq(board->slots[1].calls, 7);
	free(board);
	cr_assert_eq(ftruncate(fd, 0), 0);
	board = dist__board_copy(fd, 2);
	cr_assert_not_null(board);
	cr_expect(board->slots[1].damaged);
	free(board);
	close(fd);
}

/* A rank that calls all the time. */
struct caller {
	struct check_slot *slot;
	atomic_bool stop;
};

static void *call_on(void *arg)
{
	struct caller *caller = arg;

	for (int n = 1; !caller->stop; n++) {
		const struct check_call like = {.tag = -1,
						.numel = (uint64_t)n,
						.terms = (uint64_t)n,
						.timeout_ns = n,
						.site.line = n};

		check_end(caller->slot, check_issue(caller->slot, &like), 0, n);
	}
	return NULL;
}

static bool is_whole(const struct check_call *call)
{
	int64_t n = call->site.line;

	return call->state == CHECK_CALL_NONE ||
	       (call->number == (uint32_t)n && call->numel == (uint64_t)n &&
		call->terms == (uint64_t)n && call->timeout_ns == n);
}

Test(board, no_call_is_read_while_it_is_written)
{
	struct caller caller = {.stop = false};
	uint32_t world_size;
	pthread_t thread;
	int fd, half = 0;

	okay(dist__board_create(1, &fd));
	caller.slot = dist__board_slot(fd, 0, &world_size);
	cr_assert_eq(pthread_create(&thread, NULL, call_on, &caller), 0);
	for (int i = 0; i < 100; i++) {
		struct check_board *board = dist__board_copy(fd, 1);

		cr_assert_not_null(board);
		for (int j = 0; j < CHECK_RING; j++)
			half += !is_whole(&board->slots[0].ring[j]);
		free(board);
	}
	caller.stop = true;
	pthread_join(thread, NULL);
	cr_expect_eq(half, 0, "%d calls that nobody made", half);
	close(fd);
}

Test(board, text_of_records_is_printable)
{
	struct check_slot slot = {.state = CHECK_RANK_RUNNING};

	strcpy(slot.host, "a\033[2Jb\xc3\xa9\xff");
	cr_expect(check_slot_mend(&slot, 1));
	cr_expect_str_eq(slot.host, "a?[2Jb\xc3\xa9?");
	memset(slot.host, 'x', sizeof slot.host);
	cr_expect_not(check_slot_mend(&slot, 1));
	cr_expect(slot.damaged);
}

Test(board, polls_while_it_does_nothing_else)
{
	const struct check_site site = {.file = "a.c", .line = 7};
	const struct check_call call = {.op = "barrier", .tag = -1};
	struct check_slot slot = {.state = CHECK_RANK_RUNNING};
	const int64_t second = 1000000000;

	for (int64_t now = 5; now < 9; now++)
		check_poll(&slot, "ready", now * second, &site);
	cr_expect_eq(check_polls(&slot, 9 * second), 4 * second);
	cr_expect_eq(check_polls(&slot, 11 * second), 0, "silent since");
	check_poll(&slot, "other", 9 * second, &site);
	cr_expect_eq(check_polls(&slot, 10 * second), second);
	cr_expect_str_eq(slot.polled.key, "other");
	check_store(&slot, "alive", &site);
	cr_expect_eq(check_polls(&slot, 10 * second), 0, "it stores");
	check_poll(&slot, "other", 10 * second, &site);
	check_end(&slot, check_issue(&slot, &call), 0, 0);
	cr_expect_eq(check_polls(&slot, 11 * second), 0, "it calls");
}
