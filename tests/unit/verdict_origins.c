/* What a report says of where a wait or a disagreement comes from, on boards
 * written by hand. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "check/verdict.h"
#include "tests/support/board.h"

/* ---- messages that do not meet ---------------------------------------- */

Test(verdict_origins, another_tag_is_named)
{
	board_expect(board_played(2,
				  "0 issued recv 1 3 @11; 0 waits barrier @12; "
				  "1 waits send 0 4 @21"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 1's send(dst 0, tag 4, float32, 4) of group default "
		     "at prog.c:21 and rank 0's recv(src 1, tag 3, float32, 4) "
		     "of group default at prog.c:11 do not meet: they differ "
		     "in the tag\n",
		     NULL);
}

Test(verdict_origins, another_rank_is_named)
{
	board_expect(board_played(3, "0 waits recv 2 0 @11; 1 finished; "
				     "2 waits send 1 0 @21"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "they differ in a rank\n", NULL);
}

Test(verdict_origins, what_differs_in_more_is_no_miss)
{
	board_expect(board_played(3, "0 waits recv 2 0 @11; 1 finished; "
				     "2 waits send 1 5 @21"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY, "!do not meet",
		     NULL);
}

/* The stages of a pipeline, of which the middle one has fewer micro-batches. */
Test(verdict_origins, one_of_many_messages_is_no_miss)
{
	board_expect(board_played(3, "0 done send 1 0 @10; "
				     "1 done recv 0 0 @20; "
				     "1 done send 2 0 @20; "
				     "2 done recv 1 0 @30; "
				     "0 done send 1 0 @10; "
				     "0 issued send 1 0 @10; "
				     "1 done recv 0 0 @20; "
				     "0 waits recv 1 0 @10; "
				     "1 waits recv 2 0 @20; "
				     "2 waits recv 1 0 @30"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY, "!do not meet",
		     "rank 1 has called recv for 2 of the 3 messages that rank "
		     "0 sends it with tag 0\n",
		     NULL);
}

Test(verdict_origins, a_message_in_flight_is_named)
{
	board_expect(board_played(2,
				  "0 issued recv 1 3 @11; 0 waits barrier @12; "
				  "1 finished"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "nobody answers rank 0's recv(src 1, tag 3, float32, 4) "
		     "of group default at prog.c:11\n",
		     NULL);
}

Test(verdict_origins, an_answered_message_is_not)
{
	board_expect(board_played(2,
				  "0 issued recv 1 3 @11; 0 waits barrier @12; "
				  "1 done send 0 3 @21; 1 finished"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY, "!nobody answers",
		     NULL);
}

Test(verdict_origins, a_message_like_the_one_too_many_is_named)
{
	board_expect(
		board_played(2, "0 done send 1 0 @10; 0 done send 1 0 @11; "
				"1 done recv 0 0 @20; 1 done recv 0 0 @20; "
				"0 waits send 1 0 @10; 1 finished"),
		&board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		"rank 0 called the same from another line before: send(dst 1, "
		"tag 0, float32, 4) of group default at prog.c:11\n",
		NULL);
}

Test(verdict_origins, an_answer_that_the_ring_forgot_counts)
{
	struct check_board *board = board_of(2);

	board_done(board, 0, "send", 1, 3, 10);
	for (int i = 0; i < CHECK_RING; i++)
		board_done(board, 0, "send", 1, 4, 11);
	board_block(board, 0, "recv", 1, 0, 12);
	board_block(board, 1, "recv", 0, 3, 20);
	check_end(&board->slots[0], CHECK_RING + 2, -5, 1);
	board_expect(board, &board_usual, CHECK_TIMEOUT, BOARD_ANY, NULL);
}

Test(verdict_origins, who_sent_least_is_awaited_from_any)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 1; rank < 3; rank++)
		board->slots[rank].state = CHECK_RANK_FINISHED;
	board_done(board, 1, "send", 0, 0, 21);
	board_done(board, 0, "recv", -1, 0, 11);
	check_source(&board->slots[0], 1, 1);
	board_block(board, 0, "recv", -1, 0, 11);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "for one of ranks 1-2 (2), of which rank 2 has finished",
		     NULL);
}

/* ---- collectives ------------------------------------------------------ */

Test(verdict_origins, where_ranks_parted_is_named)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 0; rank < 3; rank++) {
		board_done(board, rank, "barrier", -1, -1, 10);
		board_done(board, rank, "barrier", -1, -1, rank == 1 ? 11 : 20);
		board_done(board, rank, "barrier", -1, -1, rank == 1 ? 20 : 30);
		board_block(board, rank, rank == 1 ? "barrier" : "all_reduce",
			    -1, -1, rank == 1 ? 30 : 40);
	}
	board_expect(board, &board_stuck, CHECK_MISMATCH, BOARD_ANY,
		     " at prog.c:40\n"
		     "  ranks called from different lines before: rank 1 "
		     "barrier(float32, 4) #1 of group default at prog.c:11, "
		     "rank 0 at prog.c:20\n",
		     NULL);
}

/* A barrier at a line, for what a label says. */
static void complete_for(struct check_board *board, uint32_t rank, int line,
			 const char *label)
{
	struct check_slot *slot = &board->slots[rank];
	uint32_t number = board_issue(board, rank, "barrier", -1, -1, line);
	struct check_call *call = &slot->ring[(number - 1) % CHECK_RING];

	snprintf(call->label, sizeof call->label, "%s", label);
	check_end(slot, number, 0, 1);
}

Test(verdict_origins, what_ranks_called_for_at_one_line_is_named)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 0; rank < 3; rank++) {
		complete_for(board, rank, 10, "step 0");
		complete_for(board, rank, 10, rank == 1 ? "step 2" : "step 1");
		complete_for(board, rank, 10, rank == 1 ? "step 3" : "step 2");
	}
	for (uint32_t rank = 0; rank < 3; rank += 2)
		board_block(board, rank, "barrier", -1, -1, 10);
	board->slots[1].state = CHECK_RANK_FINISHED;
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "ranks called for different things before: rank 1 "
		     "barrier(float32, 4) #1 of group default for step 2 at "
		     "prog.c:10, rank 0 for step 1 at prog.c:10\n",
		     NULL);
}

/* A rank that skips a layer at random: in the backward pass it is at another
 * line, too. */
Test(verdict_origins, what_ranks_parted_for_before_they_left_the_line_is_named)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 0; rank < 3; rank++) {
		complete_for(board, rank, 10, "layer 0");
		complete_for(board, rank, 10,
			     rank == 1 ? "layer 2" : "layer 1");
		complete_for(board, rank, rank == 1 ? 20 : 10, "layer 2");
		board_block(board, rank, rank == 1 ? "barrier" : "all_reduce",
			    -1, -1, 20);
	}
	board_expect(board, &board_stuck, CHECK_MISMATCH, BOARD_ANY,
		     "ranks called for different things before: rank 1 "
		     "barrier(float32, 4) #1 of group default for layer 2 at "
		     "prog.c:10, rank 0 for layer 1 at prog.c:10\n",
		     NULL);
}

Test(verdict_origins, ranks_that_never_parted_have_no_such_line)
{
	board_expect(board_played(2,
				  "0-1 done barrier @10; 0 waits barrier @11; "
				  "1 finished"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "!different lines", NULL);
}

Test(verdict_origins, the_first_call_that_is_lacking_is_named)
{
	board_expect(board_played(2,
				  "0 done broadcast @10; 0 waits barrier @11; "
				  "1 finished"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 1 did not come to broadcast(float32, 4) #0 of group "
		     "default at prog.c:10, where rank 0 was\n",
		     NULL);
}

Test(verdict_origins, nothing_is_lacking_where_there_are_no_records)
{
	board_expect(board_played(2,
				  "0 done broadcast @10; 0 failed barrier @11; "
				  "1 unknown"),
		     &board_usual, CHECK_TIMEOUT, BOARD_ANY,
		     "rank 1 has no records here\n", "!did not come", NULL);
}

Test(verdict_origins, what_lacks_is_named_where_a_message_is_awaited)
{
	board_expect(board_played(2,
				  "0 done broadcast @10; 0 waits send 1 0 @11; "
				  "1 finished"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 1 did not come to broadcast(float32, 4) #0 of group "
		     "default at prog.c:10, where rank 0 was\n",
		     NULL);
}

Test(verdict_origins, an_awaited_rank_that_is_stuck_goes_before_one_that_left)
{
	board_expect(board_played(3, "0 waits barrier @10; 1 finished; "
				     "2 waits recv 0 0 @12"),
		     &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 0 waits in barrier (group default, #0, prog.c:10) "
		     "for rank 2, which waits in recv (src 0, tag 0, "
		     "prog.c:12) for rank 0: a cycle\n",
		     NULL);
}

/* ---- joining again ---------------------------------------------------- */

Test(verdict_origins, calls_before_joining_again_are_not_compared)
{
	struct check_board *board = board_of(2);

	board_done(board, 0, "all_reduce", -1, -1, 10);
	board_done(board, 1, "all_reduce", -1, -1, 10);
	check_join(&board->slots[0], 0, 0);
	board_block(board, 0, "broadcast", -1, -1, 20);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 0 waits in broadcast", NULL);
}

Test(verdict_origins, calls_after_joining_again_are)
{
	struct check_board *board = board_of(2);

	for (uint32_t rank = 0; rank < 2; rank++) {
		board_done(board, rank, "all_reduce", -1, -1, 10);
		check_join(&board->slots[rank], 0, 0);
	}
	board_block(board, 0, "broadcast", -1, -1, 20);
	board_block(board, 1, "all_reduce", -1, -1, 21);
	board_expect(board, &board_stuck, CHECK_MISMATCH, BOARD_ANY,
		     "the ranks disagree about collective #0", NULL);
}

Test(verdict_origins, who_has_yet_to_join_again_is_awaited)
{
	struct check_board *board = board_of(2);

	board_done(board, 0, "barrier", -1, -1, 10);
	board_done(board, 1, "barrier", -1, -1, 10);
	board_done(board, 1, "barrier", -1, -1, 11);
	board->slots[1].state = CHECK_RANK_FINISHED;
	check_join(&board->slots[0], 0, 0);
	board_block(board, 0, "barrier", -1, -1, 20);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "for rank 1, which has finished", NULL);
}

Test(verdict_origins, messages_before_joining_again_do_not_count)
{
	struct check_board *board = board_of(2);

	board_done(board, 0, "send", 1, 0, 10);
	board_done(board, 1, "recv", 0, 0, 11);
	for (uint32_t rank = 0; rank < 2; rank++)
		check_join(&board->slots[rank], 0, 0);
	board_block(board, 1, "recv", 0, 0, 21);
	board->slots[0].state = CHECK_RANK_FINISHED;
	cr_expect_eq(board->slots[1].ring[1].index, 0);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "for rank 0, which has finished", NULL);
}
