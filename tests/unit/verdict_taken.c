/* Receives from any source that took the wrong message, on boards written by
 * hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "check/verdict.h"
#include "tests/support/board.h"

static uint32_t issue(struct check_board *board, uint32_t rank, const char *op,
		      int peer, int line, int64_t now_ns)
{
	struct check_call call = {.peer = peer, .issued_ns = now_ns};

	if (strcmp(op, "barrier") == 0)
		call.tag = -1;
	return board_add(board, rank, op, line, call);
}

static void block(struct check_board *board, uint32_t rank, const char *op,
		  int peer, int line, int64_t now_ns)
{
	check_wait(&board->slots[rank],
		   issue(board, rank, op, peer, line, now_ns), NULL);
}

static void done(struct check_board *board, uint32_t rank, const char *op,
		 int peer, int line, int64_t now_ns)
{
	check_end(&board->slots[rank],
		  issue(board, rank, op, peer, line, now_ns), 0, now_ns);
}

/* Rank 0 receives from any source, and hears source. */
static void hear(struct check_board *board, int source, int line,
		 int64_t now_ns)
{
	struct check_slot *slot = &board->slots[0];
	uint32_t number = issue(board, 0, "recv", -1, line, now_ns);

	check_source(slot, number, source);
	check_end(slot, number, 0, now_ns);
}

#define TAKEN                                                                  \
	"  rank 1's message was taken by the receive from any source at "      \
	"prog.c:10"

static void expect(struct check_board *board, enum check_verdict_kind kind,
		   bool taken)
{
	board_expect(board, &board_stuck, kind, BOARD_ANY,
		     taken ? TAKEN "; run lockstep explore\n" : "!" TAKEN,
		     NULL);
}

/* Rank 0 heard rank 1, and waits for it again; rank 2 sends at that time. */
static struct check_board *robbed(int64_t now_ns)
{
	struct check_board *board = board_of(3);

	hear(board, 1, 10, 5);
	block(board, 0, "recv", 1, 11, 6);
	done(board, 1, "send", 0, 20, 4);
	board->slots[1].state = CHECK_RANK_FINISHED;
	block(board, 2, "send", 0, 30, now_ns);
	return board;
}

Test(verdict_taken, a_message_awaited_now_was_taken)
{
	expect(robbed(3), CHECK_DEADLOCK, true);
	expect(robbed(9), CHECK_DEADLOCK, true);
}

Test(verdict_taken, what_else_it_might_have_taken_is_told)
{
	board_expect(robbed(3), &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "  rank 0 might have taken there what rank 2 sent at "
		     "prog.c:30 as well\n",
		     NULL);
}

Test(verdict_taken, who_explored_is_not_told_to)
{
	const struct check_race race = {.rank = 0};
	const struct check_facts facts = {
		.lost_rank = -1, .nothing_moves = 1, .race = &race};

	board_expect(robbed(3), &facts, CHECK_DEADLOCK, BOARD_ANY, TAKEN "\n",
		     NULL);
}

Test(verdict_taken, a_message_that_was_never_sent_was_not)
{
	struct check_board *board = board_of(3);

	hear(board, 1, 10, 5);
	block(board, 0, "recv", 1, 11, 6);
	done(board, 1, "send", 0, 20, 4);
	board->slots[1].state = board->slots[2].state = CHECK_RANK_FINISHED;
	expect(board, CHECK_DEADLOCK, false);
}

/* Rank 2 has made no call yet. */
Test(verdict_taken, a_message_that_may_yet_be_sent_might_have_been)
{
	struct check_board *board = board_of(3);

	hear(board, 1, 10, 5);
	block(board, 0, "recv", 1, 11, 6);
	done(board, 1, "send", 0, 20, 4);
	board->slots[1].state = CHECK_RANK_FINISHED;
	board->slots[2].state = CHECK_RANK_RUNNING;
	expect(board, CHECK_DEADLOCK, true);
}

Test(verdict_taken, who_waits_for_anybody_got_too_few)
{
	struct check_board *board = board_of(3);

	hear(board, 1, 10, 5);
	hear(board, 2, 10, 5);
	block(board, 0, "recv", -1, 10, 6);
	done(board, 1, "send", 0, 20, 4);
	done(board, 2, "send", 0, 20, 4);
	board->slots[1].state = board->slots[2].state = CHECK_RANK_FINISHED;
	expect(board, CHECK_DEADLOCK, false);
}

/* Rank 0 heard rank 1, then rank 2, and answers one that has gone. The
 * message of rank 2 was sent then; told: because of a message that came later.
 */
static struct check_board *answers_wrong(int64_t now_ns, bool told)
{
	struct check_board *board = board_of(3);

	hear(board, 1, 10, 5);
	hear(board, 2, 12, 20);
	block(board, 0, "send", 1, 13, 21);
	done(board, 1, "send", 0, 20, 4);
	board->slots[1].state = CHECK_RANK_FINISHED;
	if (told)
		done(board, 2, "recv", 1, 29, 7);
	done(board, 2, "send", 0, 30, now_ns);
	block(board, 2, "recv", 0, 31, now_ns);
	return board;
}

Test(verdict_taken, what_was_heard_first_may_have_led_to_it)
{
	expect(answers_wrong(3, false), CHECK_DEADLOCK, true);
	expect(answers_wrong(9, false), CHECK_DEADLOCK, true);
}

Test(verdict_taken, what_follows_from_it_could_not_be_heard_first)
{
	expect(answers_wrong(9, true), CHECK_DEADLOCK, false);
}

/* Rank 0 goes its own way after it has heard rank 1; in between all ranks
 * meet, or not. */
static struct check_board *goes_its_way(bool meet)
{
	struct check_board *board = board_of(3);

	done(board, 1, "send", 0, 20, 4);
	done(board, 2, "send", 0, 20, 4);
	hear(board, 1, 10, 5);
	hear(board, 2, 12, 5);
	for (uint32_t rank = 0; rank < 3; rank++) {
		if (meet)
			done(board, rank, "barrier", -1, 40, 6);
		block(board, rank, "barrier", -1, 41, 7);
	}
	snprintf(board->slots[0].ring[meet ? 3 : 2].op, 20, "all_reduce");
	return board;
}

Test(verdict_taken, who_disagrees_may_have_been_led_there)
{
	expect(goes_its_way(false), CHECK_MISMATCH, true);
}

/* What rank 1 sent is too long, and rank 2 has made no call yet, or has left.
 */
Test(verdict_taken, another_might_have_fitted)
{
	for (int left = 0; left < 2; left++) {
		struct check_board *board = board_of(3);
		struct check_slot *slot = &board->slots[0];
		uint32_t number = issue(board, 0, "recv", -1, 10, 5);

		check_source(slot, number, 1);
		check_wait(slot, number, NULL);
		number = board_add(board, 1, "send", 20,
				   (struct check_call){.numel = 99});
		check_end(&board->slots[1], number, 0, 6);
		board->slots[2].state =
			left ? CHECK_RANK_FINISHED : CHECK_RANK_RUNNING;
		expect(board, CHECK_MISMATCH, !left);
	}
}

Test(verdict_taken, who_agreed_since_was_not)
{
	expect(goes_its_way(true), CHECK_MISMATCH, false);
}
