/* The verdict engine on all-to-alls, and on two wrongs at once. */
#include <criterion/criterion.h>
#include <string.h>

#include "check/verdict.h"
#include "tests/support/board.h"

/* Rank makes a collective of group 0 or 1, whose rank 0 is leader. */
static uint32_t call(struct check_board *board, uint32_t rank, const char *op,
		     uint32_t group, uint32_t leader, int64_t now_ns)
{
	struct check_call call = {.group_id = group,
				  .leader = leader,
				  .peer = -1,
				  .tag = -1,
				  .issued_ns = now_ns};

	strcpy(call.group, group ? "sub" : "default");
	return board_add(board, rank, op, 10 + (int)rank, call);
}

/* Rank, own in its group, sends 2 to each, and awaits out. */
static void exchange(struct check_board *board, uint32_t rank, int own,
		     const uint64_t *out, int n)
{
	struct check_slot *slot = &board->slots[rank];
	uint32_t number = call(board, rank, "all_to_all", 1, 3, 1);
	struct check_parts *parts = check_parts_begin(slot, own, n);

	for (int i = 0; parts && i < n; i++)
		check_part(parts, i, 2, i < 3 ? out[i] : 2);
	if (parts)
		check_parts_end(parts, number);
}

Test(verdict_parts, equal_pairs_are_fine)
{
	const uint64_t two[3] = {2, 2, 2};
	struct check_board *board = board_of(4);

	exchange(board, 3, 0, two, 3);
	exchange(board, 1, 1, two, 3);
	exchange(board, 0, 2, two, 3);
	board_expect(board, &board_usual, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_parts, pair_is_told_by_ranks_of_the_group)
{
	const uint64_t two[3] = {2, 2, 2}, other[3] = {2, 5, 2};
	struct check_board *board = board_of(4);

	/* Ranks 3, 1, 0 of the job in this order: rank 0 awaits 5 of 1. */
	exchange(board, 3, 0, two, 3);
	exchange(board, 1, 1, two, 3);
	exchange(board, 0, 2, other, 3);
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY,
		     "rank 1 sends 2 elements to rank 0, which awaits 5,\n  in "
		     "collective #0 of group sub\n",
		     NULL);
}

Test(verdict_parts, the_rank_in_all_pairs_is_the_culprit)
{
	const uint64_t two[3] = {2, 2, 2}, other[3] = {5, 5, 2};
	struct check_board *board = board_of(4);

	exchange(board, 3, 0, two, 3);
	exchange(board, 1, 1, two, 3);
	exchange(board, 0, 2, other, 3);
	board_expect(board, &board_usual, CHECK_MISMATCH, 0,
		     "  so it is with 1 other pair of ranks; rank 0 is in all "
		     "of them\n",
		     NULL);
}

Test(verdict_parts, pairs_without_a_common_rank_are_told_so)
{
	const uint64_t of_1[3] = {2, 5, 2}, of_0[3] = {2, 2, 5};
	const uint64_t of_3[3] = {5, 2, 2};
	struct check_board *board = board_of(4);

	exchange(board, 3, 0, of_1, 3);
	exchange(board, 1, 1, of_0, 3);
	exchange(board, 0, 2, of_3, 3);
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY,
		     "  so it is with 2 other pairs of ranks\n", NULL);
}

Test(verdict_parts, too_many_ranks_are_not_told)
{
	const uint64_t other[3] = {2, 5, 2};
	struct check_board *board = board_of(CHECK_PARTS + 1);

	for (int rank = 0; rank <= CHECK_PARTS; rank++)
		exchange(board, (uint32_t)rank, rank, other, CHECK_PARTS + 1);
	board_expect(board, &board_usual, CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_parts, of_two_wrongs_the_first_is_told)
{
	struct check_board *board = board_of(2);

	call(board, 0, "barrier", 1, 0, 10);
	call(board, 1, "all_reduce", 1, 0, 11);
	call(board, 0, "barrier", 0, 0, 20);
	call(board, 1, "broadcast", 0, 0, 21);
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY,
		     "disagree about collective #0 of group sub", NULL);
}

Test(verdict_parts, rank_that_went_on_is_told_by_its_call_before)
{
	const uint64_t two[3] = {2, 2, 2}, other[3] = {2, 5, 2};
	struct check_board *board = board_of(4);

	/* Rank 1 has what it awaited. */
	exchange(board, 3, 0, two, 3);
	exchange(board, 1, 1, two, 3);
	exchange(board, 0, 2, other, 3);
	exchange(board, 1, 1, two, 3);
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY,
		     "rank 1 sends 2 elements to rank 0, which awaits 5,\n  in "
		     "collective #0 of group sub\n",
		     NULL);
}
