/* What verdicts say of calls with a label, and of refused ones. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/verdict.h"
#include "tests/support/board.h"
#include "lockstep/dist.h"

/* Rank waits in an all_reduce with a label. */
static void reduce(struct check_board *board, uint32_t rank, const char *label,
		   uint64_t terms)
{
	struct check_call call = {.peer = -1, .tag = -1, .terms = terms};

	snprintf(call.label, sizeof call.label, "%s", label);
	check_wait(&board->slots[rank],
		   board_add(board, rank, "all_reduce", 7, call), NULL);
}

Test(verdict_label, other_terms_are_a_mismatch_of_labels)
{
	struct check_board *board = board_of(3);

	reduce(board, 0, "bucket 0 (b) of step 1", 11);
	reduce(board, 1, "bucket 1 (a) of step 1", 12);
	reduce(board, 2, "bucket 0 (b) of step 1", 11);
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY,
		     "lockstep: mismatch: the ranks disagree about what "
		     "collective #0 of group default is for\n"
		     "  rank 1 called all_reduce(float32, 4) for bucket 1 (a) "
		     "of step 1 at prog.c:7\n"
		     "  ranks 0,2 (2) called all_reduce(float32, 4) for bucket "
		     "0 (b) of step 1 at prog.c:7\n",
		     NULL);
}

/* Then the labels are not what tells them apart. */
Test(verdict_label, other_calls_with_other_labels_are_a_plain_mismatch)
{
	struct check_board *board = board_of(2);

	reduce(board, 0, "bucket 0", 11);
	reduce(board, 1, "bucket 1", 12);
	board->slots[1].ring[0].numel = 8;
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY,
		     "lockstep: mismatch: the ranks disagree about collective "
		     "#0 of group default\n",
		     NULL);
}

Test(verdict_label, other_words_alone_are_fine)
{
	struct check_board *board = board_of(2);

	reduce(board, 0, "micro-batch 1", 11);
	reduce(board, 1, "micro-batch 2", 11);
	board_expect(board, &board_usual, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_label, ranks_that_wait_for_other_things_have_other_lines)
{
	struct check_board *board = board_of(3);

	reduce(board, 0, "step 1", 0);
	reduce(board, 1, "step 2", 0);
	board->slots[2].state = CHECK_RANK_FINISHED;
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "  rank 0 waits in all_reduce(float32, 4) #0 of group "
		     "default for step 1 at prog.c:7\n"
		     "  rank 1 waits in all_reduce(float32, 4) #0 of group "
		     "default for step 2 at prog.c:7\n",
		     NULL);
}

/* One line of a library, from two of the program. */
Test(verdict_label, calls_from_other_lines_are_shown_apart)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 0; rank < 2; rank++) {
		struct check_call call = {.peer = -1, .tag = -1};

		check_site_set(&call.from, "train.py", 12 + (int)rank);
		check_wait(&board->slots[rank],
			   board_add(board, rank, "all_reduce", 7, call), NULL);
	}
	board->slots[2].state = CHECK_RANK_FINISHED;
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "  rank 0 waits in all_reduce(float32, 4) #0 of group "
		     "default at prog.c:7, from train.py:12\n"
		     "  rank 1 waits in all_reduce(float32, 4) #0 of group "
		     "default at prog.c:7, from train.py:13\n",
		     NULL);
}

static void refuse(struct check_board *board, uint32_t rank, int line,
		   const char *text)
{
	struct check_call call = {.error = -1, .group = "default"};

	check_site_set(&call.site, "prog.c", line);
	check_refuse(&board->slots[rank], &call, text);
	board->slots[rank].state = CHECK_RANK_FINISHED;
}

Test(verdict_label, a_rank_that_gave_up_says_why)
{
	struct check_board *board = board_of(4);
	const struct check_facts facts = {.lost_rank = 1,
					  .lost_how = "exited with status 1"};

	reduce(board, 0, "", 0);
	refuse(board, 1, 20, "send: dst is 9");
	refuse(board, 2, 30, "send: dst is 9");
	refuse(board, 3, 20, "send: dst is 9");
	board_expect(
		board, &facts, CHECK_INVALID, BOARD_ANY,
		"lockstep: invalid call: ranks 1,3 (2) called send at "
		"prog.c:20, which was refused; rank 1 exited with status 1\n"
		"  ranks 1,3 (2) called send at prog.c:20, which was refused:\n"
		"    dst is 9\n"
		"  rank 2 called send at prog.c:30, which was refused:\n"
		"    dst is 9\n"
		"lockstep: rank lost: rank 1 exited with status 1\n",
		NULL);
}

Test(verdict_label, each_rank_has_its_own_reason)
{
	struct check_board *board = board_of(4);
	const struct check_facts facts = {.lost_rank = 1,
					  .lost_how = "exited with status 1"};

	reduce(board, 0, "", 0);
	refuse(board, 1, 20, "send: dst is 9");
	refuse(board, 2, 20, "send: dst is 8");
	refuse(board, 3, 20, "send: dst is 9");
	board_expect(
		board, &facts, CHECK_INVALID, BOARD_ANY,
		"  ranks 1-3 (3) called send at prog.c:20, which was refused:\n"
		"    ranks 1,3 (2): dst is 9\n"
		"    rank 2: dst is 8\n",
		NULL);
}

Test(verdict_label, a_refusal_is_the_last_call_until_the_next)
{
	struct check_board *board = board_of(2);

	refuse(board, 0, 20, "send: dst is 9");
	cr_assert(check_last_refusal(&board->slots[0]));
	cr_expect_str_eq(check_last_refusal(&board->slots[0])->call.op, "send");
	reduce(board, 0, "", 0);
	cr_expect(!check_last_refusal(&board->slots[0]));
	cr_expect_eq(board->slots[0].refused, 1);
	free(board);
}

Test(verdict_label, refusals_at_a_line_are_counted_and_the_last_is_kept)
{
	struct check_board *board = board_of(1);
	struct check_slot *slot = &board->slots[0];

	for (int line = 1; line <= CHECK_REFUSALS + 3; line++)
		for (int i = 0; i < line; i++)
			refuse(board, 0, line, "send: dst is 9");
	cr_expect_eq(slot->refused, CHECK_REFUSALS);
	for (int i = 0; i + 1 < CHECK_REFUSALS; i++)
		cr_expect_eq(slot->refusals[i].count, i + 1);
	cr_expect_eq(slot->refusals[CHECK_REFUSALS - 1].call.site.line,
		     CHECK_REFUSALS + 3);
	cr_expect_eq(slot->refusals[CHECK_REFUSALS - 1].count,
		     CHECK_REFUSALS + 3);
	free(board);
}

Test(verdict_label, what_all_ranks_were_refused_alike_is_to_blame_for_no_wait)
{
	struct check_board *board = board_of(2);

	refuse(board, 0, 20, "all_reduce: dtype 99 is none");
	refuse(board, 1, 20, "all_reduce: dtype 99 is none");
	reduce(board, 0, "", 0);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 1, which has finished\n", NULL);
}

Test(verdict_label, what_one_rank_was_refused_is)
{
	struct check_board *board = board_of(2);

	refuse(board, 1, 20, "all_reduce: dtype 99 is none");
	reduce(board, 0, "", 0);
	board_expect(
		board, &board_stuck, CHECK_INVALID, BOARD_ANY,
		"lockstep: invalid call: rank 1 called all_reduce at "
		"prog.c:20, which was refused; hence a deadlock\n"
		"  rank 1 called all_reduce at prog.c:20, which was refused:\n"
		"    dtype 99 is none\n"
		"lockstep: deadlock: no rank can ever move\n",
		NULL);
}

Test(verdict_label, one_refused_call_does_not_explain_two_that_lack)
{
	struct check_board *board = board_of(2);

	refuse(board, 1, 20, "all_reduce: dtype 99 is none");
	reduce(board, 0, "", 0);
	check_resume(&board->slots[0]);
	reduce(board, 0, "", 0);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 1, which has finished\n", NULL);
}
