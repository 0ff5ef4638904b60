/* The verdict engine on boards of several groups, written by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/verdict.h"
#include "tests/support/board.h"

/* A group as its members know it. */
struct team {
	const char *name;
	uint32_t id, leader;
};

static void join(struct check_board *board, const struct team *team,
		 uint32_t rank)
{
	check_join(&board->slots[rank], team->id, team->leader);
}

static uint32_t block(struct check_board *board, uint32_t rank,
		      const struct team *team, const char *op, int line)
{
	struct check_call call = {.group_id = team->id,
				  .leader = team->leader,
				  .peer = -1,
				  .tag = -1};
	uint32_t number;

	snprintf(call.group, sizeof call.group, "%s", team->name);
	number = board_add(board, rank, op, line, call);
	check_wait(&board->slots[rank], number, NULL);
	return number;
}

static void complete(struct check_board *board, uint32_t rank,
		     const struct team *team, const char *op, int line)
{
	check_end(&board->slots[rank], block(board, rank, team, op, line), 0,
		  1);
	check_resume(&board->slots[rank]);
}

static const struct team all = {"default", 0, 0};

Test(verdict_groups, who_is_no_member_is_not_awaited)
{
	static const struct team odd = {"odd", 1, 1};
	struct check_board *board = board_of(4);

	join(board, &odd, 1);
	join(board, &odd, 3);
	/* Rank 1 waits for 3 alone, which runs: 0 and 2 have finished. */
	board->slots[0].state = CHECK_RANK_FINISHED;
	board->slots[2].state = CHECK_RANK_FINISHED;
	check_end(&board->slots[1], block(board, 1, &odd, "barrier", 5),
		  BOARD_TIMEOUT, 9);
	board_expect(board, &board_usual, CHECK_TIMEOUT, 3,
		     "group odd is ranks 1,3 (2)\n", NULL);
}

Test(verdict_groups, crossed_groups_are_a_cycle_over_both)
{
	static const struct team a = {"a", 1, 0}, b = {"b", 2, 0};
	struct check_board *board = board_of(2);

	for (uint32_t rank = 0; rank < 2; rank++) {
		join(board, &a, rank);
		join(board, &b, rank);
	}
	block(board, 0, &a, "all_reduce", 10);
	block(board, 1, &b, "all_reduce", 20);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, 0,
		     "rank 0 waits in all_reduce (group a, #0, prog.c:10) for "
		     "rank 1, which waits in all_reduce (group b, #0, "
		     "prog.c:20) for rank 0: a cycle",
		     "group a is ranks 0-1 (2)\n", "group b is ranks 0-1 (2)\n",
		     NULL);
}

/* Disjoint groups made of disjoint parents have one id: what happens in one
 * says nothing of the other. */
Test(verdict_groups, groups_of_one_id_are_told_apart)
{
	static const struct team left = {"1.2", 2, 0}, right = {"3.2", 2, 2};
	struct check_board *board = board_of(4);

	for (uint32_t rank = 0; rank < 4; rank++)
		join(board, rank < 2 ? &left : &right, rank);
	complete(board, 0, &left, "barrier", 1);
	complete(board, 1, &left, "barrier", 1);
	complete(board, 2, &right, "all_reduce", 2);
	complete(board, 3, &right, "all_reduce", 2);
	cr_expect_eq(board_kind(board), CHECK_FINE);
	/* Ranks 1 and 2 are each late in the same index of their own. */
	block(board, 0, &left, "barrier", 3);
	check_end(&board->slots[3], block(board, 3, &right, "barrier", 3),
		  BOARD_TIMEOUT, 9);
	board->slots[2].state = CHECK_RANK_FINISHED;
	board_expect(board, &board_usual, CHECK_DEADLOCK, 3,
		     "rank 3 waits in barrier (group 3.2, #1, prog.c:3) for "
		     "rank 2, which has finished\n",
		     NULL);
}

Test(verdict_groups, a_mismatch_in_a_group_names_it)
{
	static const struct team odd = {"odd", 1, 1};
	struct check_board *board = board_of(6);

	for (uint32_t rank = 0; rank < 6; rank++) {
		complete(board, rank, &all, "barrier", 1);
		if (rank % 2 == 0)
			continue;
		join(board, &odd, rank);
		block(board, rank, &odd, rank == 3 ? "reduce" : "all_reduce",
		      rank == 3 ? 7 : 8);
	}
	board_expect(
		board, &board_usual, CHECK_MISMATCH, 3,
		"disagree about collective #0 of group odd\n"
		"  rank 3 called reduce(float32, 4) at prog.c:7\n"
		"  ranks 1,5 (2) called all_reduce(float32, 4) at prog.c:8\n"
		"  group odd is ranks 1,3,5 (3)\n",
		"before it, rank 3 called barrier(float32, 4) #0 of group "
		"default",
		NULL);
}

Test(verdict_groups, unequal_terms_are_a_mismatch)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 0; rank < 3; rank++) {
		struct check_call *call;

		block(board, rank, &all, "new_group", 4);
		call = &board->slots[rank].ring[0];
		call->terms = rank == 1 ? 7 : 8;
		strcpy(call->terms_text, rank == 1 ? "ranks 0-1" : "ranks 0,2");
	}
	board_expect(board, &board_usual, CHECK_MISMATCH, 1,
		     "rank 1 called new_group(ranks 0-1, float32, 4) at",
		     "ranks 0,2 (2) called new_group(ranks 0,2, float32, 4) at",
		     NULL);
}

Test(verdict_groups, who_left_a_group_never_comes)
{
	static const struct team pair = {"pair", 1, 0};
	struct check_board *board = board_of(2);
	uint32_t number;

	join(board, &pair, 0);
	join(board, &pair, 1);
	number = block(board, 0, &pair, "barrier", 6);
	check_end(&board->slots[0], number, BOARD_TIMEOUT, 9);
	cr_expect_eq(board_kind(board), CHECK_TIMEOUT);
	check_leave(&board->slots[1], pair.id);
	board_expect(board, &board_usual, CHECK_DEADLOCK, 0,
		     "for rank 1, which has left group pair\n", NULL);
}

/* A rank that gives up after a failed call is stuck, it has not left. */
Test(verdict_groups, giving_up_is_not_leaving)
{
	static const struct team a = {"a", 1, 0}, b = {"b", 2, 0};
	struct check_board *board = board_of(2);

	for (uint32_t rank = 0; rank < 2; rank++) {
		join(board, &a, rank);
		join(board, &b, rank);
	}
	for (uint32_t rank = 0; rank < 2; rank++) {
		struct check_slot *slot = &board->slots[rank];

		check_end(slot,
			  block(board, rank, rank ? &b : &a, "barrier", 3),
			  BOARD_TIMEOUT, 9);
		check_leave(slot, a.id);
		check_leave(slot, b.id);
	}
	board_expect(board, &board_usual, CHECK_DEADLOCK, 0, ": a cycle\n",
		     NULL);
}

/* Equal states in groups of one name share a line, and the page stays a page
 * and soon there, however many groups there are. */
Test(verdict_groups, sixteen_thousand_ranks_make_a_page)
{
	enum { WORLD = 16384, SIZE = 8 };
	struct check_board *board = board_of(WORLD);
	clock_t begun = clock();
	struct check_verdict verdict;
	int lines = 0;
	char *text;

	for (uint32_t rank = 0; rank < WORLD; rank++) {
		struct team tp = {"tp", 1 + rank / SIZE, rank / SIZE * SIZE};

		join(board, &tp, rank);
		if (rank == 4100)
			block(board, rank, &all, "all_reduce", 9);
		else
			block(board, rank, &tp, "all_reduce", 8);
	}
	/* Where no one is missing, the calls are on their way. */
	for (uint32_t rank = 0; rank < WORLD; rank++)
		if (rank / SIZE != 4100 / SIZE) {
			check_end(&board->slots[rank], 1, 0, 1);
			check_resume(&board->slots[rank]);
			block(board, rank, &all, "all_reduce", 9);
		}
	board_judge(board, &board_stuck, CHECK_DEADLOCK, 4096,
		    "ranks 0-4095,4100,4104-16383 (16377) wait in "
		    "all_reduce(float32, 4) #0 of group default at prog.c:9\n",
		    "ranks 4096-4099,4101-4103 (7) wait in all_reduce(float32, "
		    "4) #0 of group tp at prog.c:8\n"
		    "  group tp is ranks 4096-4103 (8)\n",
		    "rank 4096 waits in all_reduce (group tp, #0, prog.c:8) "
		    "for rank 4100, which waits in all_reduce (group default, "
		    "#0, prog.c:9) for rank 4096: a cycle\n",
		    NULL);
	/* And when all the groups stand still, for one member each. */
	for (uint32_t rank = 0; rank < WORLD; rank++) {
		struct team tp = {"tp", 1 + rank / SIZE, rank / SIZE * SIZE};

		if (board->slots[rank].calls == 2 && rank % SIZE != 5) {
			check_end(&board->slots[rank], 2, 0, 1);
			block(board, rank, &tp, "all_reduce", 10);
		}
	}
	verdict = check_judge(board, &board_stuck);
	text = board_report(board, &board_stuck, &verdict);
	cr_expect_eq(verdict.kind, CHECK_DEADLOCK);
	cr_expect_eq(verdict.rank, 0);
	cr_expect(strstr(text, "\n  group tp is ranks 4096-4103 (8)\n"));
	cr_expect(strstr(
		text,
		" in all_reduce(float32, 4) #1 of group tp at prog.c:10\n"));
	cr_expect(strstr(text, "  and 2040 other groups\n"));
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_expect_lt(lines, 40, "%s", text);
	cr_expect_lt(strlen(text), 4000);
	cr_expect_lt((double)(clock() - begun) / CLOCKS_PER_SEC, 20.0);
	free(text);
	free(board);
}

Test(record, groups_that_were_left_make_room)
{
	struct check_board *board = board_of(1);
	struct check_slot *slot = &board->slots[0];

	for (uint32_t id = 1; id < CHECK_GROUPS; id++)
		check_join(slot, id, 0);
	cr_expect_eq(check_collectives(slot, CHECK_GROUPS, 0), UINT32_MAX);
	check_join(slot, CHECK_GROUPS, 0);
	cr_expect_null(check_membership_find(slot, CHECK_GROUPS));
	check_leave(slot, 3);
	check_join(slot, CHECK_GROUPS, 0);
	cr_expect_not_null(check_membership_find(slot, CHECK_GROUPS));
	cr_expect_null(check_membership_find(slot, 3));
	free(board);
}

/* ---- groups that are asked for by number -------------------------------- */

/* The rank asks at prog.c:line for a group of two, which terms tell apart. */
static void ask(struct check_board *board, uint32_t rank, uint32_t number,
		uint64_t terms, int line)
{
	struct check_call call = {.op = "new_group",
				  .index = number,
				  .tag = -1,
				  .peer = -1,
				  .peer_rank = -1,
				  .source = -1,
				  .numel = 2,
				  .terms = terms};

	check_site_set(&call.site, "prog.c", line);
	check_make(&board->slots[rank], &call);
}

/* A board of two ranks that asked for `most` groups each, and differ in
 * number. */
static struct check_board *board_of_askers(uint32_t most, uint32_t number)
{
	struct check_board *board = board_of(2);

	for (uint32_t rank = 0; rank < 2; rank++) {
		for (uint32_t i = 1; i <= most; i++) {
			bool wrong = rank == 1 && i == number;

			ask(board, rank, i, wrong ? 7 : 5, wrong ? 20 : 10);
		}
		board->slots[rank].state = CHECK_RANK_FINISHED;
	}
	return board;
}

Test(verdict_groups, a_wrong_group_among_many_is_found)
{
	static const struct {
		uint32_t most, number;
	} cases[] = {{9, 9},   {64, 32},  {64, 33},   {64, 64},
		     {200, 9}, {200, 32}, {200, 169}, {200, 200}};
	char what[80];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(what, sizeof what,
			 "disagree about number %u of the groups",
			 cases[i].number);
		board_expect_end(
			board_of_askers(cases[i].most, cases[i].number),
			CHECK_MISMATCH, BOARD_ANY, what,
			"rank 0 called new_group() at prog.c:10\n",
			"rank 1 called new_group() at prog.c:20\n", NULL);
	}
	board_expect_end(board_of_askers(200, 0), CHECK_FINE, BOARD_ANY, NULL);
}

Test(verdict_groups, a_group_that_its_members_made_is_one_call)
{
	struct check_board *board = board_of(3);

	for (int peer = 1; peer < 3; peer++)
		check_end(&board->slots[0],
			  board_add(board, 0, "send", 5,
				    (struct check_call){
					    .peer = peer,
					    .peer_rank = peer,
					    .tag = CHECK_TAG_GROUPS,
					    .terms_text = "a: ranks 0-2"}),
			  0, 1);
	board_block(board, 0, "barrier", -1, -1, 6);
	board_block(board, 1, "broadcast", 0, -1, 7);
	board_block(board, 2, "broadcast", 0, -1, 7);
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY,
		     "before it, rank 0 called new_group(a: ranks 0-2, members "
		     "only, with rank 1) of group default at prog.c:5\n",
		     "!with rank 2", NULL);
}
