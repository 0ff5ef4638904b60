/* The verdict on jobs in which a call never came, on boards written by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/diagnosis.h"
#include "check/verdict.h"
#include "tests/support/board.h"

#define RANKS 4
#define LOG   1 /* the group's id */

static struct check_board *board;

static void four_ranks(void)
{
	board = board_of(RANKS);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		board->slots[rank].state = CHECK_RANK_FINISHED;
}

TestSuite(verdict_missing, .init = four_ranks);

static void join_all(uint32_t group, uint32_t first)
{
	for (uint32_t rank = first; rank < RANKS; rank++)
		check_join(&board->slots[rank], group, first);
}

/* Rank has called op on group, led by leader, at line, and that is done. */
static uint32_t call(uint32_t rank, const char *op, uint32_t group,
		     uint32_t leader, int line)
{
	struct check_call made = {.group_id = group,
				  .leader = leader,
				  .peer = -1,
				  .tag = -1,
				  .fingerprint = (uint64_t)strlen(op)};
	uint32_t number;

	strcpy(made.group, group ? "log" : "default");
	number = board_add(board, rank, op, line, made);
	check_end(&board->slots[rank], number, 0, 1);
	return number;
}

static void call_all(const char *op, uint32_t group, uint32_t first)
{
	for (uint32_t rank = first; rank < RANKS; rank++)
		call(rank, op, group, first, 10);
}

Test(verdict_missing, equal_calls_are_fine)
{
	join_all(LOG, 1);
	for (int i = 0; i < 50; i++)
		call_all("reduce", LOG, 1);
	call_all("barrier", 0, 0);
	board_expect_end(board, CHECK_FINE, -1, NULL);
}

Test(verdict_missing, who_stays_away_is_named_first)
{
	join_all(LOG, 0);
	for (int i = 0; i < 20; i++)
		for (uint32_t rank = 1; rank < RANKS; rank++)
			call(rank, "reduce", LOG, 0, 20);
	call_all("barrier", 0, 0);
	board_expect_end(
		board, CHECK_MISMATCH, 0,
		"a call is missing on group log: its ranks made different "
		"numbers of them\n"
		"  rank 0 made no call there; last call: barrier(float32, 4) "
		"#0 of group default at prog.c:10\n"
		"  ranks 1-3 (3) made 20 calls there, the last: "
		"reduce(float32, 4) #19 of group log at prog.c:20\n"
		"  rank 0 did not come to reduce(float32, 4) #0 of group log "
		"at prog.c:20, where rank 1 was\n"
		"  group log is ranks 0-3 (4)\n",
		NULL);
}

Test(verdict_missing, one_of_many_counts_after_the_ring_has_turned)
{
	join_all(LOG, 0);
	for (int i = 0; i < 20; i++)
		call_all("gather", LOG, 0);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		if (rank != 2)
			call(rank, "gather", LOG, 0, 21);
	for (int i = 0; i < 3 * CHECK_RING; i++)
		call_all("barrier", 0, 0);
	board_expect_end(board, CHECK_MISMATCH, 2,
			 "  rank 2 made 20 calls there, the last: "
			 "gather(float32, 4) #19 of group log at prog.c:10\n"
			 "  ranks 0-1,3 (3) made 21 calls there, the last: "
			 "gather(float32, 4) #20 of group log at prog.c:21\n",
			 NULL);
}

Test(verdict_missing, other_calls_than_the_ring_keeps_tell)
{
	join_all(LOG, 0);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		call(rank, rank == 3 ? "reduce" : "broadcast", LOG, 0, 30);
	for (int i = 0; i < 3 * CHECK_RING; i++)
		call_all("barrier", 0, 0);
	board_expect_end(board, CHECK_MISMATCH, 3,
			 "the ranks made different calls on group log\n", NULL);
}

/* Who gets an error has dealt with it, or not: others may then stay away. */
Test(verdict_missing, a_failure_excuses_its_group)
{
	uint32_t number;

	join_all(LOG, 0);
	for (uint32_t rank = 1; rank < RANKS; rank++)
		call(rank, "reduce", LOG, 0, 20);
	number = call(0, "barrier", 0, 0, 10);
	check_end(&board->slots[0], number, -5, 2);
	board_expect_end(board, CHECK_FINE, -1, NULL);
}

Test(verdict_missing, who_gave_a_group_up_is_excused)
{
	for (uint32_t rank = 1; rank < RANKS; rank++)
		call(rank, "reduce", 0, 0, 20);
	check_give_up(&board->slots[0]);
	board_expect_end(board, CHECK_FINE, -1, NULL);
}

Test(verdict_missing, other_ranks_may_call_otherwise_on_groups_of_one_id)
{
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		uint32_t leader = rank / 2 * 2;

		check_join(&board->slots[rank], LOG, leader);
		for (uint32_t i = 0; i <= leader; i++)
			call(rank, "barrier", LOG, leader, 10);
	}
	board_expect_end(board, CHECK_FINE, -1, NULL);
}

/* A place is needed by another group: what was called stays. */
Test(verdict_missing, groups_that_were_left_count)
{
	for (uint32_t group = LOG; group < LOG + 60; group++) {
		join_all(group, 0);
		for (uint32_t rank = 0; rank < RANKS; rank++)
			if (rank != 1 || group != LOG + 5)
				call(rank, "reduce", group, 0, 40);
		for (uint32_t rank = 0; rank < RANKS; rank++)
			check_leave(&board->slots[rank], group);
	}
	board_expect_end(board, CHECK_MISMATCH, 1, NULL);
}

/* The world is left, and joined again: each time counts by itself. */
Test(verdict_missing, an_earlier_world_counts)
{
	for (uint32_t rank = 0; rank < RANKS; rank++)
		if (rank != 3)
			call(rank, "reduce", 0, 0, 20);
	join_all(0, 0);
	call_all("barrier", 0, 0);
	board_expect_end(board, CHECK_MISMATCH, 3, NULL);
}

Test(verdict_missing, a_failure_of_an_earlier_world_excuses_that_alone)
{
	uint32_t number;

	for (uint32_t rank = 0; rank < RANKS; rank++)
		if (rank != 3)
			call(rank, "reduce", 0, 0, 20);
	number = call(3, "barrier", 0, 0, 10);
	check_end(&board->slots[3], number, -5, 2);
	join_all(0, 0);
	for (uint32_t rank = 1; rank < RANKS; rank++)
		call(rank, "reduce", 0, 0, 20);
	board_expect_end(board, CHECK_MISMATCH, 0, NULL);
}

Test(verdict_missing, dumps_tell_the_same)
{
	struct check_diagnosis diagnosis = {.board = NULL};
	struct check_verdict verdict;
	char message[256];

	join_all(LOG, 0);
	for (uint32_t rank = 1; rank < RANKS; rank++)
		call(rank, "reduce", LOG, 0, 20);
	for (int i = 0; i < CHECK_RING; i++)
		call_all("barrier", 0, 0);
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct check_dump dump = {.rank = rank,
					  .world_size = RANKS,
					  .slot = board->slots[rank]};
		struct check_dump *read = calloc(1, sizeof *read);
		FILE *file = tmpfile();

		cr_assert(file && read && check_dump_print(file, &dump));
		rewind(file);
		cr_assert(check_dump_read(file, read, message), "%s", message);
		cr_assert(check_diagnosis_add(&diagnosis, read, message));
		fclose(file);
		free(read);
	}
	verdict = check_diagnose(&diagnosis);
	cr_expect_eq(verdict.kind, CHECK_MISMATCH);
	cr_expect_eq(verdict.rank, 0);
	cr_expect_not_null(
		check_last_collective(&diagnosis.board->slots[1], LOG, 0));
	check_diagnosis_release(&diagnosis);
	free(board);
}

Test(verdict_missing, who_ended_ranks_of_its_own_is_not_guessed)
{
	struct check_diagnosis diagnosis = {.board = board};
	uint32_t number;

	/* Rank 3 left, rank 2 was ended for that before it saw it. */
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		board->slots[rank].state = CHECK_RANK_RUNNING;
		check_join(&board->slots[rank], 0, 0);
	}
	for (uint32_t rank = 0; rank < 2; rank++) {
		number = board_add(board, rank, "barrier", 10,
				   (struct check_call){.peer = -1, .tag = -1});
		check_end(&board->slots[rank], number, DIST_ERR_PEER_LOST, 1);
	}
	diagnosis.facts.lost_rank = -1;
	board->own_job = 1;
	cr_expect(check_diagnose(&diagnosis).kind == CHECK_STATUS);
	/* But where rank 2 has told by which line an error ended it. */
	diagnosis.cause.weight = 0;
	check_site_set(&board->slots[2].crash.site, "prog.c", 20);
	cr_expect(check_diagnose(&diagnosis).kind == CHECK_LOST);
	cr_expect(diagnosis.facts.lost_rank == 2);
	cr_expect(diagnosis.facts.lost_at.site.line == 20);
	cr_expect(board->slots[2].state == CHECK_RANK_LOST);
	board->slots[2].crash.site.file[0] = '\0';
	diagnosis.cause.weight = 0;
	board->slots[2].state = CHECK_RANK_FINISHED;
	cr_expect(check_diagnose(&diagnosis).kind == CHECK_LOST);
	cr_expect(diagnosis.facts.lost_rank == 3);
}
