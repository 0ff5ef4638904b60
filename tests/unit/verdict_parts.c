/* The verdict engine on all-to-alls, and on two wrongs at once. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/verdict.h"

static struct check_board *board_of(uint32_t world_size)
{
	struct check_board *board = calloc(1, check_board_bytes(world_size));

	cr_assert(board);
	check_board_init(board, world_size);
	for (uint32_t rank = 0; rank < world_size; rank++)
		board->slots[rank].state = CHECK_RANK_RUNNING;
	return board;
}

/* Rank makes a collective of group 0 or 1, whose rank 0 is leader. */
static uint32_t call(struct check_board *board, uint32_t rank, const char *op,
		     uint32_t group, uint32_t leader, int64_t now_ns)
{
	struct check_slot *slot = &board->slots[rank];
	struct check_call call = {.group_id = group,
				  .leader = leader,
				  .peer = -1,
				  .peer_rank = -1,
				  .tag = -1,
				  .index = check_collectives(slot, group, 0),
				  .issued_ns = now_ns};

	snprintf(call.op, sizeof call.op, "%s", op);
	snprintf(call.dtype, sizeof call.dtype, "float32");
	snprintf(call.group, sizeof call.group, group ? "sub" : "default");
	check_site_set(&call.site, "prog.c", 10 + (int)rank);
	return check_issue(slot, &call);
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

static char *verdict_on(struct check_board *board,
			enum check_verdict_kind wanted)
{
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict = check_judge(board, &facts);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_expect_eq(verdict.kind, wanted);
	check_report(out, board, &facts, &verdict);
	fclose(out);
	free(board);
	return text;
}

static void expect_text(char *text, const char *part)
{
	cr_expect(strstr(text, part), "\"%s\" is not in:\n%s", part, text);
	free(text);
}

Test(verdict_parts, equal_pairs_are_fine)
{
	const uint64_t two[3] = {2, 2, 2};
	struct check_board *board = board_of(4);

	exchange(board, 3, 0, two, 3);
	exchange(board, 1, 1, two, 3);
	exchange(board, 0, 2, two, 3);
	free(verdict_on(board, CHECK_FINE));
}

Test(verdict_parts, pair_is_told_by_ranks_of_the_group)
{
	const uint64_t two[3] = {2, 2, 2}, other[3] = {2, 5, 2};
	struct check_board *board = board_of(4);

	/* Ranks 3, 1, 0 of the job in this order: rank 0 awaits 5 of 1. */
	exchange(board, 3, 0, two, 3);
	exchange(board, 1, 1, two, 3);
	exchange(board, 0, 2, other, 3);
	expect_text(verdict_on(board, CHECK_MISMATCH),
		    "rank 1 sends 2 elements to rank 0, which awaits 5,\n  in "
		    "collective #0 of group sub\n");
}

Test(verdict_parts, too_many_ranks_are_not_told)
{
	const uint64_t other[3] = {2, 5, 2};
	struct check_board *board = board_of(CHECK_PARTS + 1);

	for (int rank = 0; rank <= CHECK_PARTS; rank++)
		exchange(board, (uint32_t)rank, rank, other, CHECK_PARTS + 1);
	free(verdict_on(board, CHECK_FINE));
}

Test(verdict_parts, of_two_wrongs_the_first_is_told)
{
	struct check_board *board = board_of(2);

	call(board, 0, "barrier", 1, 0, 10);
	call(board, 1, "all_reduce", 1, 0, 11);
	call(board, 0, "barrier", 0, 0, 20);
	call(board, 1, "broadcast", 0, 0, 21);
	expect_text(verdict_on(board, CHECK_MISMATCH),
		    "disagree about collective #0 of group sub");
}
