/* The verdict on jobs that ended well, on boards written by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/verdict.h"

static struct check_board *two_ranks(void)
{
	struct check_board *board = calloc(1, check_board_bytes(2));

	cr_assert(board);
	check_board_init(board, 2);
	board->slots[0].state = board->slots[1].state = CHECK_RANK_FINISHED;
	return board;
}

/* Rank has called op, to or from peer (-1: any), and that is done. */
static uint32_t done(struct check_board *board, uint32_t rank, const char *op,
		     int peer, int tag)
{
	struct check_slot *slot = &board->slots[rank];
	struct check_call call = {
		.peer = peer, .peer_rank = peer, .tag = tag, .numel = 4};
	uint32_t number;

	snprintf(call.op, sizeof call.op, "%s", op);
	snprintf(call.group, sizeof call.group, "default");
	check_site_set(&call.site, "prog.c", 10 + tag);
	number = check_issue(slot, &call);
	check_end(slot, number, 0, 1);
	return number;
}

static void expect(struct check_board *board, enum check_verdict_kind kind)
{
	struct check_facts facts = {.lost_rank = -1};

	cr_expect_eq(check_judge_end(board, &facts).kind, kind);
	free(board);
}

Test(verdict_left, every_message_received_is_fine)
{
	struct check_board *board = two_ranks();

	for (int i = 0; i < 5; i++) {
		done(board, 0, "send", 1, 3);
		done(board, 1, "recv", 0, 3);
	}
	expect(board, CHECK_FINE);
}

Test(verdict_left, a_message_too_many_is_left)
{
	struct check_board *board = two_ranks();
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	done(board, 0, "send", 1, 3);
	done(board, 0, "send", 1, 3);
	done(board, 0, "send", 1, 4);
	done(board, 1, "recv", 0, 3);
	verdict = check_judge_end(board, &facts);
	cr_expect_eq(check_exit_status(&verdict), 17);
	check_report(out, board, &facts, &verdict);
	fclose(out);
	cr_expect(strstr(text, "rank 0 called send(dst 1, tag 3) of group "
			       "default at prog.c:13; rank 1 never called its "
			       "receive\n  so it is with 1 other messages\n"),
		  "%s", text);
	free(text);
	free(board);
}

Test(verdict_left, a_receive_from_any_may_have_taken_it)
{
	struct check_board *board = two_ranks();
	uint32_t number;

	done(board, 0, "send", 1, 3);
	number = done(board, 1, "recv", -1, 3);
	check_source(&board->slots[1], number, 0);
	expect(board, CHECK_FINE);
}

Test(verdict_left, who_has_forgotten_calls_is_not_accused)
{
	struct check_board *board = two_ranks();

	done(board, 0, "send", 1, 3);
	done(board, 1, "recv", 0, 3);
	for (int i = 0; i < CHECK_RING; i++)
		done(board, 1, "barrier", -1, -1);
	expect(board, CHECK_FINE);
}

Test(verdict_left, who_has_no_records_is_not_accused)
{
	struct check_board *board = two_ranks();

	done(board, 0, "send", 1, 3);
	board->slots[1].state = CHECK_RANK_ABSENT;
	expect(board, CHECK_FINE);
}
