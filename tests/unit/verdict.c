/* The verdict engine on boards written by hand. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "check/message.h"
#include "check/verdict.h"
#include "tests/support/board.h"

static const struct check_facts late = {.lost_rank = -1,
					.timeout_ns = 2000000000};

Test(verdict, nothing_wrong_is_fine)
{
	struct check_board *board = board_of(3);

	board_done(board, 0, "all_reduce", -1, -1, 10);
	board_block(board, 1, "all_reduce", -1, -1, 10);
	cr_expect_eq(check_judge(board, &board_usual).kind, CHECK_FINE);
	free(board);
}

Test(verdict, collective_against_receive_is_a_cycle)
{
	struct check_board *board = board_of(4);

	for (uint32_t rank = 0; rank < 4; rank++) {
		board_done(board, rank, "barrier", -1, -1, 5);
		if (rank == 1)
			board_block(board, 1, "recv", 3, 0, 18);
		else
			board_block(board, rank, "all_reduce", -1, -1, 20);
	}
	board_expect(board, &board_stuck, CHECK_DEADLOCK, 1,
		     "ranks 0,2-3 (3) wait in all_reduce(float32, 4) #1 of "
		     "group default at prog.c:20",
		     "rank 1 waits in recv(src 3, tag 0, float32, 4)",
		     "rank 1 waits in recv (src 3, tag 0, prog.c:18) for rank "
		     "3, which waits in all_reduce (group default, #1, "
		     "prog.c:20) for rank 1: a cycle",
		     NULL);
}

/* The same ranks on a real back end: calls that failed by timeout stand for
 * waiting, and the sentences are the same. */
Test(verdict, timed_out_cycle_reads_like_the_simulated_one)
{
	struct check_board *sim = board_of(2), *tcp = board_of(2);
	struct check_verdict verdict;
	char *text;

	board_block(sim, 0, "recv", 1, 0, 7);
	board_block(sim, 1, "recv", 0, 0, 9);
	board_late(tcp, 0, "recv", 1, 0, 7);
	board_block(tcp, 1, "recv", 0, 0, 9);
	verdict = check_judge(sim, &board_stuck);
	text = board_report(sim, &board_stuck, &verdict);
	board_expect(tcp, &late, CHECK_DEADLOCK, BOARD_ANY, text, NULL);
	free(text);
	free(sim);
}

Test(verdict, waiting_for_a_rank_that_computes_is_only_late)
{
	board_expect(board_played(2, "0 done barrier @5; 1 done barrier @5; "
				     "0 failed barrier @8"),
		     &late, CHECK_TIMEOUT, 1, "not complete after 2.000 s",
		     "rank 1 runs in its own code; last call: barrier(float32, "
		     "4) #0 of group default at prog.c:5",
		     NULL);
}

Test(verdict, a_timeout_of_unknown_length_is_told_without)
{
	board_expect(board_played(2, "0 failed barrier @8"), &board_usual,
		     CHECK_TIMEOUT, BOARD_ANY,
		     "timeout: a call was not complete\n", NULL);
}

/* The verdict turns on rank 0, which waits for the cycle from outside. */
Test(verdict, a_cycle_begins_with_a_rank_in_it)
{
	board_expect(board_played(3,
				  "0 waits recv 1 0 @10; 1 waits recv 2 0 @11; "
				  "2 waits recv 1 0 @12"),
		     &board_stuck, CHECK_DEADLOCK, 0,
		     "  rank 2 waits in recv (src 1, tag 0, prog.c:12) for "
		     "rank 1, which waits in recv (src 2, tag 0, prog.c:11) "
		     "for rank 2: a cycle\n",
		     NULL);
}

Test(verdict, a_receive_from_any_that_heard_somebody_is_taken)
{
	const struct check_call send = {.op = "send",
					.state = CHECK_CALL_ISSUED};
	struct check_call receive = {.op = "recv",
				     .state = CHECK_CALL_ISSUED,
				     .peer = -1,
				     .peer_rank = -1,
				     .source = -1};

	cr_expect(check_is_counterpart(&send, 2, &receive));
	receive.source = 0;
	cr_expect(!check_is_counterpart(&send, 2, &receive));
	cr_expect(check_is_counterpart(&send, 0, &receive));
}

Test(verdict, waiting_for_a_finished_rank_is_a_deadlock)
{
	board_expect(board_played(2, "1 finished; 0 failed barrier @8"),
		     &board_usual, CHECK_DEADLOCK, BOARD_ANY,
		     "for rank 1, which has finished", NULL);
}

Test(verdict, the_minority_of_a_mismatch_comes_first)
{
	struct check_board *board = board_of(4);

	for (uint32_t rank = 0; rank < 4; rank++) {
		board_done(board, rank, "barrier", -1, -1, 5);
		board_block(board, rank, rank == 2 ? "broadcast" : "all_reduce",
			    rank == 2 ? 0 : -1, -1, rank == 2 ? 31 : 33);
	}
	board_expect(
		board, &board_stuck, CHECK_MISMATCH, 2,
		"disagree about collective #1 of group default\n"
		"  rank 2 called broadcast(src 0, float32, 4) at prog.c:31\n"
		"  ranks 0-1,3 (3) called all_reduce(float32, 4) at "
		"prog.c:33\n",
		"before it, rank 2 called barrier(float32, 4) #0", NULL);
}

Test(verdict, a_message_of_two_sizes_is_a_mismatch)
{
	struct check_board *board = board_of(2);

	board_issue(board, 0, "send", 1, 3, 4);
	board->slots[0].ring[0].numel = 5;
	board_block(board, 1, "recv", 0, 3, 6);
	board_expect(board, &board_usual, CHECK_MISMATCH, BOARD_ANY, NULL);
}

Test(verdict, a_killed_rank_comes_before_everything)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = 1,
				    .lost_how = "was killed by signal 9"};

	board_block(board, 0, "barrier", -1, -1, 8);
	board->slots[1].state = CHECK_RANK_LOST;
	board_expect(board, &facts, CHECK_LOST, BOARD_ANY,
		     "rank 1 was killed by signal 9",
		     "rank 1 is lost; no call yet", NULL);
}

/* A rank that gave up is the verdict only if somebody waits for it. */
Test(verdict, a_rank_that_gave_up_counts_when_awaited)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = 1,
				    .lost_how = "exited with status 3"};

	cr_expect_eq(check_judge(board, &facts).kind, CHECK_FINE);
	board_block(board, 0, "recv", 1, 0, 8);
	cr_expect_eq(check_judge(board, &facts).kind, CHECK_LOST);
	free(board);
}

Test(record, the_ring_forgets_the_oldest)
{
	struct check_board *board = board_of(1);
	struct check_slot *slot = &board->slots[0];

	for (int i = 0; i < CHECK_RING + 1; i++)
		board_done(board, 0, "barrier", -1, -1, i);
	cr_expect_null(check_call_find(slot, 1));
	cr_expect_not_null(check_call_find(slot, 2));
	cr_expect_not_null(check_call_find(slot, CHECK_RING + 1));
	cr_expect_null(check_call_find(slot, CHECK_RING + 2));
	check_end(slot, 1, BOARD_TIMEOUT, 0);
	cr_expect_eq(check_call_find(slot, CHECK_RING + 1)->state,
		     CHECK_CALL_DONE);
	cr_expect_eq(check_collectives(slot, 0, 0), CHECK_RING + 1);
	free(board);
}

/* One more rank than the limit: all keep fewer calls; at the limit, as many as
 * ever. */
Test(record, many_ranks_keep_fewer_calls)
{
	struct check_board *board = board_of(CHECK_MANY_RANKS);
	struct check_slot *slot = &board->slots[CHECK_MANY_RANKS - 1];

	cr_expect_eq(check_ring(slot), CHECK_RING);
	free(board);
	board = board_of(CHECK_MANY_RANKS + 1);
	slot = &board->slots[CHECK_MANY_RANKS];
	cr_expect_eq(check_ring(slot), CHECK_RING_SHORT);
	for (int i = 0; i < CHECK_RING_SHORT + 1; i++)
		board_done(board, CHECK_MANY_RANKS, "barrier", -1, -1, i);
	cr_expect_eq(check_dropped(slot), 1);
	cr_expect_null(check_call_find(slot, 1));
	for (uint32_t n = 2; n <= CHECK_RING_SHORT + 1; n++)
		cr_expect_not_null(check_call_find(slot, n));
	cr_expect_eq(slot->ring[CHECK_RING_SHORT].state, CHECK_CALL_NONE);
	free(board);
}

Test(record, a_long_path_keeps_its_end)
{
	struct check_site site;
	char path[200];

	memset(path, 'd', sizeof path);
	strcpy(path + 150, "/train.c");
	check_site_set(&site, path, 3);
	cr_expect_eq(strlen(site.file), sizeof site.file - 1);
	cr_expect_str_eq(site.file + strlen(site.file) - 8, "/train.c");
	check_site_set(&site, NULL, 0);
	cr_expect_str_empty(site.file);
}

Test(record, a_strange_board_is_refused)
{
	struct check_board *board = board_of(2);

	cr_expect(check_board_valid(board, check_board_bytes(2)));
	cr_expect_not(check_board_valid(board, check_board_bytes(2) - 1));
	cr_expect_not(check_board_valid(board, 3));
	board->magic++;
	cr_expect_not(check_board_valid(board, check_board_bytes(2)));
	free(board);
}

Test(verdict, all_to_all_may_differ_in_length)
{
	struct check_board *board = board_of(3);
	uint32_t number;

	for (uint32_t rank = 0; rank < 3; rank++) {
		number = board_block(board, rank, "all_to_all", -1, -1, 7);
		board->slots[rank].ring[0].numel = 10 + rank;
	}
	cr_expect_eq(board_kind(board), CHECK_FINE);
	/* Unless a message was not as long as awaited. */
	check_end(&board->slots[1], number, BOARD_MISMATCH, 9);
	board_expect(board, &board_usual, CHECK_MISMATCH, 1,
		     "lengths of the parts in\n  collective #0 of group "
		     "default; rank 1 found it out\n",
		     "ranks 0-2 (3) called all_to_all(float32) at prog.c:7\n",
		     NULL);
}

/* ---- messages ---------------------------------------------------------- */

/* Rank 0 waits for a message from anybody and ran out of time. */
static struct check_board *await_anybody(uint32_t world_size)
{
	struct check_board *board = board_of(world_size);

	board_late(board, 0, "recv", -1, 3, 8);
	return board;
}

Test(verdict, one_sender_that_may_move_is_enough)
{
	struct check_board *board = await_anybody(4);

	board_block(board, 1, "recv", 0, 5, 10);
	board_block(board, 2, "recv", 0, 5, 10);
	cr_expect_eq(board_kind(board), CHECK_TIMEOUT);
	free(board);
}

Test(verdict, no_sender_that_may_move_is_a_deadlock_and_all_are_named)
{
	struct check_board *board = await_anybody(4);

	board_block(board, 1, "recv", 0, 5, 10);
	board_block(board, 2, "recv", 1, 5, 11);
	board->slots[3].state = CHECK_RANK_FINISHED;
	board_expect(board, &board_usual, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 0 waits in recv(any source, tag 3, float32, 4)",
		     "rank 0 waits in recv (any source, tag 3, prog.c:8) for "
		     "one of ranks 1-3 (3), of which rank 1 waits in recv (src "
		     "0, tag 5, prog.c:10) for rank 0: a cycle",
		     NULL);
}

/* What was sent and not yet received keeps its receiver out of every cycle. */
Test(verdict, a_message_under_way_is_no_deadlock)
{
	board_expect(board_played(2,
				  "0 issued send 1 7 @4; 0 failed recv 1 8 @5; "
				  "1 waits recv 0 7 @6"),
		     &board_usual, CHECK_TIMEOUT, BOARD_ANY, NULL);
}

/* A receive that is posted keeps its sender out of every cycle. */
Test(verdict, a_posted_receive_is_no_deadlock)
{
	board_expect(
		board_played(2, "0 issued recv -1 7 @4; 0 failed recv 1 8 @5; "
				"1 waits send 0 7 @6"),
		&board_usual, CHECK_TIMEOUT, BOARD_ANY, NULL);
}

/* The second message of a kind is not the first. */
Test(verdict, an_earlier_message_is_no_excuse)
{
	struct check_board *board = board_of(2);

	check_end(&board->slots[0], board_issue(board, 0, "send", 1, 7, 4), 0,
		  1);
	check_end(&board->slots[1], board_issue(board, 1, "recv", 0, 7, 4), 0,
		  1);
	board_late(board, 0, "recv", 1, 8, 5);
	board_block(board, 1, "recv", 0, 7, 6);
	cr_expect_eq(board_kind(board), CHECK_DEADLOCK);
	free(board);
}

/* Nor is one that a receive from any source has had. */
Test(verdict, a_message_heard_is_no_excuse)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 1; rank < 3; rank++) {
		uint32_t number = board_issue(board, 0, "recv", -1, 3, 7);

		check_source(&board->slots[0], number, (int32_t)rank);
		check_end(&board->slots[0], number, 0, 2);
		check_end(&board->slots[rank],
			  board_issue(board, rank, "send", 0, 3, 1), 0, 1);
		board->slots[rank].state = CHECK_RANK_FINISHED;
	}
	board_late(board, 0, "recv", -1, 3, 8);
	cr_expect_eq(board_kind(board), CHECK_DEADLOCK);
	board_issue(board, 2, "send", 0, 3, 1);
	cr_expect_eq(board_kind(board), CHECK_TIMEOUT);
	free(board);
}

/* Messages of growing size, the first of which has been received. */
Test(verdict, messages_are_compared_in_order)
{
	struct check_board *board = board_of(2);

	board_issue(board, 0, "send", 1, 3, 4);
	board_issue(board, 0, "send", 1, 3, 4);
	board->slots[0].ring[1].numel = 5;
	check_end(&board->slots[1], board_issue(board, 1, "recv", 0, 3, 6), 0,
		  0);
	board_block(board, 1, "recv", 0, 3, 7);
	board->slots[1].ring[1].numel = 5;
	cr_expect_eq(board_kind(board), CHECK_FINE);
	board->slots[1].ring[1].numel = 4;
	cr_expect_eq(board_kind(board), CHECK_MISMATCH);
	free(board);
}

Test(verdict, messages_that_nobody_waits_with_are_compared)
{
	struct check_board *board = board_of(2);

	board_issue(board, 0, "send", 1, 3, 4);
	board_issue(board, 1, "recv", 0, 3, 6);
	board_block(board, 0, "barrier", -1, -1, 5);
	board_block(board, 1, "recv", 0, 2, 7);
	cr_expect_eq(board_kind(board), CHECK_FINE);
	board->slots[1].ring[0].numel = 5;
	cr_expect_eq(board_kind(board), CHECK_MISMATCH);
	board->slots[1].ring[0].index = CHECK_INDEX_UNKNOWN;
	cr_expect_eq(board_kind(board), CHECK_FINE);
	free(board);
}

/* How many messages of a kind there were is known unless a receive from any
 * source may have had one, or there are too many kinds. */
Test(record, messages_are_numbered_by_kind)
{
	struct check_board *board = board_of(1);
	struct check_slot *slot = &board->slots[0];
	const struct check_call *call;

	board_issue(board, 0, "send", 1, 7, 1);
	board_issue(board, 0, "send", 1, 8, 1);
	board_issue(board, 0, "send", 2, 7, 1);
	board_issue(board, 0, "recv", 1, 7, 1);
	call = check_call_find(slot, board_issue(board, 0, "send", 1, 7, 1));
	cr_expect_eq(call->index, 1);
	for (int i = 0; i < CHECK_RING - 1; i++)
		board_done(board, 0, "barrier", -1, -1, i);
	call = check_call_find(slot, board_issue(board, 0, "send", 1, 7, 1));
	cr_expect_eq(call->index, 2);
	call = check_call_find(slot, board_issue(board, 0, "send", 2, 7, 1));
	cr_expect_eq(call->index, 1);
	for (int tag = 9; tag < 9 + CHECK_KINDS; tag++)
		board_issue(board, 0, "send", 1, tag, 1);
	call = check_call_find(slot, board_issue(board, 0, "send", 1, 7, 1));
	cr_expect_eq(call->index, 3);
	call = check_call_find(slot, board_issue(board, 0, "send", 2, 8, 1));
	cr_expect_eq(call->index, CHECK_INDEX_UNKNOWN);
	free(board);
	board = board_of(1);
	slot = &board->slots[0];
	board_issue(board, 0, "recv", -1, 7, 1);
	call = check_call_find(slot, board_issue(board, 0, "recv", 1, 7, 1));
	cr_expect_eq(call->index, CHECK_INDEX_UNKNOWN);
	call = check_call_find(slot, board_issue(board, 0, "recv", 1, 8, 1));
	cr_expect_eq(call->index, 0);
	free(board);
}

Test(verdict, unequal_parts_count_where_nobody_waits_for_them)
{
	struct check_board *board = board_of(2);
	uint32_t number;

	board_issue(board, 0, "all_to_all", -1, -1, 10);
	number = board_issue(board, 1, "all_to_all", -1, -1, 10);
	check_end(&board->slots[1], number, BOARD_MISMATCH, 1);
	board_block(board, 0, "barrier", -1, -1, 11);
	board_expect(board, &board_usual, CHECK_MISMATCH, 1, NULL);
}

static void touch(struct check_board *board, uint32_t rank, uint32_t number,
		  uint64_t element)
{
	struct check_hazard hazard = {.kind = CHECK_HAZARD_WRITTEN,
				      .buffer = "tensor",
				      .element = element,
				      .numel = 4};

	check_site_set(&hazard.other.site, "prog.c", 22);
	check_touch(&board->slots[rank], &hazard, number, 0);
}

/* Ranks that did the same share the sentence; the first hazard of each counts,
 * whatever came of it. */
Test(verdict, memory_written_too_early_is_a_hazard)
{
	struct check_board *board = board_of(4);

	for (uint32_t rank = 0; rank < 4; rank++) {
		uint32_t number =
			board_issue(board, rank, "all_reduce", -1, -1, 20);

		for (uint32_t i = 0; rank > 0 && i < 2; i++)
			touch(board, rank, number, 2 + i);
		if (rank == 0)
			board_block(board, rank, "all_reduce", -1, -1, 30);
	}
	board_expect(board, &board_stuck, CHECK_HAZARD, BOARD_ANY,
		     "buffer hazard: memory was touched while an operation "
		     "held it, by ranks 1-3 (3)\n",
		     "  ranks 1-3 (3) called all_reduce(float32, 4) #0 of "
		     "group default at prog.c:20\n  and wrote to its tensor, "
		     "from element 2 of 4 on, before the wait at prog.c:22\n",
		     NULL);
}

/* A receive's memory was touched before the wait for it. */
static void expect_hazard(struct check_hazard hazard, const char *text)
{
	struct check_board *board = board_of(2);

	board_issue(board, 1, "recv", 0, 0, 20);
	strcpy(hazard.buffer, "tensor");
	hazard.numel = 4;
	check_site_set(&hazard.other.site, "prog.c", 22);
	check_touch(&board->slots[1], &hazard, 1, 0);
	board_expect(board, &board_usual, CHECK_HAZARD, 1, text, NULL);
}

Test(verdict, memory_read_too_early_is_told_with_its_line)
{
	struct check_hazard hazard = {
		.kind = CHECK_HAZARD_READ, .function = "norm", .element = 3};

	check_site_set(&hazard.access, "norm.c", 21);
	expect_hazard(hazard,
		      "  and read its tensor, element 3 of 4, at norm.c:21 in "
		      "norm, before the wait at prog.c:22\n");
}

/* Where nobody saw the write, the nearest two calls are told. */
static void expect_nearest(const char *after, const char *until,
			   const char *text)
{
	struct check_hazard hazard = {.kind = CHECK_HAZARD_WRITTEN};

	check_site_set(&hazard.after, after, after ? 20 : 0);
	check_site_set(&hazard.until, until, until ? 22 : 0);
	expect_hazard(hazard, text);
}

Test(verdict, memory_written_too_early_is_told_with_the_nearest_calls)
{
	expect_nearest("a.c", "b.c",
		       "element 0 of 4 on, between the call at a.c:20 and the "
		       "call at b.c:22, before the wait at prog.c:22\n");
	expect_nearest("a.c", "prog.c",
		       "element 0 of 4 on, between the call at a.c:20 and the "
		       "wait at prog.c:22\n");
	expect_nearest("a.c", NULL,
		       "element 0 of 4 on, after the call at a.c:20, before "
		       "the wait at prog.c:22\n");
	expect_nearest(NULL, "b.c",
		       "element 0 of 4 on, before the call at b.c:22, before "
		       "the wait at prog.c:22\n");
	expect_nearest(NULL, NULL,
		       "element 0 of 4 on, before the wait at prog.c:22\n");
}

Test(verdict, memory_given_twice_is_a_hazard)
{
	struct check_board *board = board_of(2);
	struct check_hazard hazard = {.kind = CHECK_HAZARD_SHARED,
				      .buffer = "tensor",
				      .given = "in",
				      .element = 1,
				      .numel = 4};

	board_issue(board, 1, "recv", 0, 0, 20);
	board_issue(board, 1, "gather", 0, -1, 21);
	check_touch(&board->slots[1], &hazard, 1, 2);
	board_expect(board, &board_usual, CHECK_HAZARD, 1,
		     "  rank 1 called recv(src 0, tag 0, float32, 4) of group "
		     "default at prog.c:20\n  and, before the wait for it, "
		     "gather(dst 0, float32, 4) #0 of group default at "
		     "prog.c:21:\n  its in begins in element 1 of the 4 of the "
		     "first one's tensor",
		     NULL);
}

Test(verdict, each_kind_has_its_exit_status)
{
	static const int statuses[][2] = {
		{CHECK_FINE, 0},      {CHECK_MISMATCH, 10},
		{CHECK_DEADLOCK, 11}, {CHECK_TIMEOUT, 12},
		{CHECK_LOST, 13},     {CHECK_HAZARD, 14},
		{CHECK_RACE, 15},     {CHECK_BUFFERING, 16},
		{CHECK_LEFT, 17},     {CHECK_RENDEZVOUS, 18},
		{CHECK_INVALID, 19}};

	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		struct check_verdict verdict = {
			(enum check_verdict_kind)statuses[i][0], -1};

		cr_expect_eq(check_exit_status(&verdict), statuses[i][1]);
	}
}

Test(verdict, a_status_says_who_asks_for_a_key_again_and_again)
{
	const struct check_site site = {.file = "a.c", .line = 7};
	const struct check_verdict status = {CHECK_STATUS, -1};
	const struct check_facts facts = {.now_ns = 9000000000,
					  .lost_rank = -1};
	struct check_board *board = board_of(3);
	char *text;

	board_block(board, 0, "barrier", -1, -1, 6);
	for (int64_t second = 5; second < 9; second++)
		for (int rank = 1; rank < 3; rank++)
			check_poll(&board->slots[rank], "ready",
				   second * 1000000000, &site);
	text = board_report(board, &facts, &status);
	cr_expect(strstr(text, "  ranks 1-2 (2) ask for key \"ready\" again "
			       "and again at a.c:7"),
		  "%s", text);
	free(text);
	free(board);
}
