/* The verdict on jobs that ended well, on boards written by hand. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "check/verdict.h"
#include "tests/support/board.h"

/* They have ended, and were in no group: messages and handles are what counts.
 */
static struct check_board *board;

static void two_ranks(void)
{
	board = calloc(1, check_board_bytes(2));
	cr_assert(board);
	check_board_init(board, 2);
	board->slots[0].state = board->slots[1].state = CHECK_RANK_FINISHED;
}

TestSuite(verdict_left, .init = two_ranks);

static uint32_t issue(uint32_t rank, const char *op, int line,
		      struct check_call call)
{
	strcpy(call.op, op);
	strcpy(call.group, "default");
	check_site_set(&call.site, "prog.c", line);
	return check_issue(&board->slots[rank], &call);
}

/* Rank has called op, to or from peer (-1: any), and that is done. */
static uint32_t done(uint32_t rank, const char *op, int peer, int tag)
{
	uint32_t number = issue(rank, op, 10 + tag,
				(struct check_call){.peer = peer,
						    .peer_rank = peer,
						    .tag = tag,
						    .numel = 4});

	check_end(&board->slots[rank], number, 0, 1);
	return number;
}

Test(verdict_left, every_message_received_is_fine)
{
	for (int i = 0; i < 5; i++) {
		done(0, "send", 1, 3);
		done(1, "recv", 0, 3);
	}
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_left, a_message_too_many_is_left)
{
	done(0, "send", 1, 3);
	done(0, "send", 1, 3);
	done(0, "send", 1, 4);
	done(1, "recv", 0, 3);
	board_expect_end(board, CHECK_LEFT, BOARD_ANY,
			 "rank 0 called send(dst 1, tag 3) of group default at "
			 "prog.c:13; rank 1 never called its receive\n  so it "
			 "is with 1 other message\n",
			 NULL);
}

Test(verdict_left, a_receive_from_any_may_have_taken_it)
{
	uint32_t number;

	done(0, "send", 1, 3);
	number = done(1, "recv", -1, 3);
	check_source(&board->slots[1], number, 0);
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_left, who_has_forgotten_calls_is_not_accused)
{
	done(0, "send", 1, 3);
	done(1, "recv", 0, 3);
	for (int i = 0; i < CHECK_RING; i++)
		done(1, "barrier", -1, -1);
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_left, counts_tell_of_calls_that_are_forgotten)
{
	for (int i = 0; i < 2 * CHECK_RING; i++) {
		done(0, "send", 1, 3);
		if (i > 0)
			done(1, "recv", 0, 3);
	}
	for (int i = 0; i < CHECK_RING; i++)
		done(1, "barrier", -1, -1);
	board_expect_end(board, CHECK_LEFT, BOARD_ANY, NULL);
}

Test(verdict_left, kinds_without_room_accuse_nobody)
{
	uint32_t number;

	done(1, "recv", 0, 3);
	for (int tag = 10; tag < 10 + CHECK_KINDS; tag++)
		done(1, "send", 1, tag);
	number = done(1, "recv", -1, 3);
	check_source(&board->slots[1], number, 0);
	done(0, "send", 1, 3);
	done(0, "send", 1, 3);
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

/* Rank has called op on the default group, and has a handle of it. */
static uint32_t held(uint32_t rank, const char *op, uint32_t index)
{
	struct check_call call = {.index = index, .peer = -1, .tag = -1};
	uint32_t number = issue(rank, op, 20 + (int)index, call);

	check_hold(&board->slots[rank], number);
	return number;
}

Test(verdict_left, a_handle_never_waited_for_is_left)
{
	check_seen(&board->slots[0], held(0, "barrier", 0));
	check_seen(&board->slots[1], held(1, "barrier", 0));
	held(1, "all_reduce", 1);
	check_seen(&board->slots[0], held(0, "all_reduce", 1));
	held(1, "all_reduce", 2);
	check_seen(&board->slots[0], held(0, "all_reduce", 2));
	board_expect_end(board, CHECK_LEFT, BOARD_ANY,
			 "rank 1 called all_reduce() #1 of group default at "
			 "prog.c:21; it never waited for its handle\n  so it "
			 "is with 1 other handle\n",
			 NULL);
}

Test(verdict_left, a_handle_given_up_is_not_left)
{
	check_release(&board->slots[0], held(0, "barrier", 0));
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_left, a_later_collective_tells_of_those_before_it)
{
	held(0, "all_reduce", 0);
	held(0, "all_reduce", 1);
	check_seen(&board->slots[0], held(0, "all_reduce", 2));
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_left, a_message_tells_of_itself_alone)
{
	uint32_t number;

	held(0, "all_reduce", 0);
	number = done(0, "send", 1, 3);
	done(1, "recv", 0, 3);
	check_seen(&board->slots[0], number);
	board_expect_end(board, CHECK_LEFT, BOARD_ANY, NULL);
}

Test(verdict_left, a_handle_older_than_the_records_is_left)
{
	uint32_t number = held(0, "all_reduce", 0);

	for (int i = 0; i < 2 * CHECK_RING; i++)
		done(0, "barrier", -1, -1);
	cr_expect_eq(board->slots[0].kept.number, number);
	board_expect_end(board, CHECK_LEFT, BOARD_ANY, NULL);
}

Test(verdict_left, a_handle_older_than_the_records_can_be_waited_for)
{
	uint32_t numbers[2 * CHECK_RING];

	for (uint32_t i = 0; i < 2 * CHECK_RING; i++)
		numbers[i] = held(0, "all_reduce", i);
	for (int i = 0; i < 2 * CHECK_RING; i++)
		check_seen(&board->slots[0], numbers[i]);
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_left, who_dealt_with_a_failure_need_not_wait)
{
	held(0, "all_reduce", 0);
	check_end(&board->slots[0], held(0, "all_reduce", 1), -5, 1);
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

/* As who closes its files before it joins. */
Test(verdict_left, who_never_joined_has_missed_no_message)
{
	memset(&board->slots[1], 0, sizeof board->slots[1]);
	board->slots[1].state = CHECK_RANK_FINISHED;
	done(0, "send", 1, 3);
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_left, who_has_no_records_is_not_accused)
{
	done(0, "send", 1, 3);
	board->slots[1].state = CHECK_RANK_ABSENT;
	board_expect_end(board, CHECK_FINE, BOARD_ANY, NULL);
}
