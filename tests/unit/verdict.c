/* The verdict engine on boards written by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/message.h"
#include "check/verdict.h"

enum { TIMEOUT = -5, MISMATCH = -6 };

static struct check_board *board_of(uint32_t world_size)
{
	struct check_board *board = calloc(1, check_board_bytes(world_size));

	cr_assert(board);
	check_board_init(board, world_size);
	for (uint32_t rank = 0; rank < world_size; rank++)
		board->slots[rank].state = CHECK_RANK_RUNNING;
	return board;
}

static uint32_t issue(struct check_board *board, uint32_t rank, const char *op,
		      int peer, int tag, int line)
{
	struct check_slot *slot = &board->slots[rank];
	struct check_call call = {
		.peer = peer, .peer_rank = peer, .tag = tag, .numel = 4};

	if (tag < 0)
		call.index = check_collectives(slot, 0, 0);
	snprintf(call.op, sizeof call.op, "%s", op);
	snprintf(call.dtype, sizeof call.dtype, "float32");
	snprintf(call.group, sizeof call.group, "default");
	check_site_set(&call.site, "prog.c", line);
	return check_issue(slot, &call);
}

static uint32_t block(struct check_board *board, uint32_t rank, const char *op,
		      int peer, int tag, int line)
{
	uint32_t number = issue(board, rank, op, peer, tag, line);

	check_wait(&board->slots[rank], number, NULL);
	return number;
}

static void complete(struct check_board *board, uint32_t rank, const char *op,
		     int line)
{
	uint32_t number = block(board, rank, op, -1, -1, line);

	check_end(&board->slots[rank], number, 0, 1);
	check_resume(&board->slots[rank]);
}

static char *report(const struct check_board *board,
		    const struct check_facts *facts,
		    const struct check_verdict *verdict)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	check_report(out, board, facts, verdict);
	fclose(out);
	return text;
}

static void expect_text(const char *text, const char *part)
{
	cr_expect(strstr(text, part), "\"%s\" is not in:\n%s", part, text);
}

Test(verdict, nothing_wrong_is_fine)
{
	struct check_board *board = board_of(3);
	struct check_facts facts = {.lost_rank = -1};

	complete(board, 0, "all_reduce", 10);
	block(board, 1, "all_reduce", -1, -1, 10);
	cr_expect_eq(check_judge(board, &facts).kind, CHECK_FINE);
	free(board);
}

Test(verdict, collective_against_receive_is_a_cycle)
{
	struct check_board *board = board_of(4);
	struct check_facts facts = {.lost_rank = -1, .nothing_moves = 1};
	struct check_verdict verdict;
	char *text;

	complete(board, 0, "barrier", 5);
	complete(board, 1, "barrier", 5);
	complete(board, 2, "barrier", 5);
	complete(board, 3, "barrier", 5);
	block(board, 0, "all_reduce", -1, -1, 20);
	block(board, 1, "recv", 3, 0, 18);
	block(board, 2, "all_reduce", -1, -1, 20);
	block(board, 3, "all_reduce", -1, -1, 20);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_DEADLOCK);
	cr_expect_eq(verdict.rank, 1);
	cr_expect_eq(check_exit_status(&verdict), 11);
	text = report(board, &facts, &verdict);
	expect_text(text, "ranks 0,2-3 (3) wait in all_reduce(float32, 4) #1 "
			  "of group default at prog.c:20");
	expect_text(text, "rank 1 waits in recv(src 3, tag 0, float32, 4)");
	expect_text(text, "rank 1 waits in recv (src 3, tag 0, prog.c:18) for "
			  "rank 3, which waits in all_reduce (group default, "
			  "#1, prog.c:20) for rank 1: a cycle");
	free(text);
	free(board);
}

/* The same ranks on a real back end: calls that failed by timeout stand for
 * waiting, and the sentences are the same. */
Test(verdict, timed_out_cycle_reads_like_the_simulated_one)
{
	struct check_board *sim = board_of(2), *tcp = board_of(2);
	struct check_facts proved = {.lost_rank = -1, .nothing_moves = 1};
	struct check_facts late = {.lost_rank = -1, .timeout_ns = 2000000000};
	struct check_verdict a, b;
	char *text_a, *text_b;

	block(sim, 0, "recv", 1, 0, 7);
	block(sim, 1, "recv", 0, 0, 9);
	check_end(&tcp->slots[0], block(tcp, 0, "recv", 1, 0, 7), TIMEOUT, 9);
	block(tcp, 1, "recv", 0, 0, 9);
	a = check_judge(sim, &proved);
	b = check_judge(tcp, &late);
	cr_expect_eq(b.kind, CHECK_DEADLOCK);
	text_a = report(sim, &proved, &a);
	text_b = report(tcp, &late, &b);
	cr_expect_str_eq(text_a, text_b);
	free(text_a);
	free(text_b);
	free(sim);
	free(tcp);
}

Test(verdict, waiting_for_a_rank_that_computes_is_only_late)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = -1, .timeout_ns = 2000000000};
	struct check_verdict verdict;
	char *text;

	complete(board, 0, "barrier", 5);
	complete(board, 1, "barrier", 5);
	check_end(&board->slots[0], block(board, 0, "barrier", -1, -1, 8),
		  TIMEOUT, 9);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_TIMEOUT);
	cr_expect_eq(verdict.rank, 1);
	cr_expect_eq(check_exit_status(&verdict), 12);
	text = report(board, &facts, &verdict);
	expect_text(text, "not complete after 2.000 s");
	expect_text(text,
		    "rank 1 runs in its own code; last call: "
		    "barrier(float32, 4) #0 of group default at prog.c:5");
	free(text);
	free(board);
}

Test(verdict, a_timeout_of_unknown_length_is_told_without)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict;
	char *text;

	check_end(&board->slots[0], block(board, 0, "barrier", -1, -1, 8),
		  TIMEOUT, 9);
	verdict = check_judge(board, &facts);
	text = report(board, &facts, &verdict);
	expect_text(text, "timeout: a call was not complete\n");
	free(text);
	free(board);
}

/* The verdict turns on rank 0, which waits for the cycle from outside. */
Test(verdict, a_cycle_begins_with_a_rank_in_it)
{
	struct check_board *board = board_of(3);
	struct check_facts facts = {.lost_rank = -1, .nothing_moves = 1};
	struct check_verdict verdict;
	char *text;

	block(board, 0, "recv", 1, 0, 10);
	block(board, 1, "recv", 2, 0, 11);
	block(board, 2, "recv", 1, 0, 12);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.rank, 0);
	text = report(board, &facts, &verdict);
	expect_text(text, "  rank 2 waits in recv (src 1, tag 0, prog.c:12) "
			  "for rank 1, which waits in recv (src 2, tag 0, "
			  "prog.c:11) for rank 2: a cycle\n");
	free(text);
	free(board);
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
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict;
	char *text;

	board->slots[1].state = CHECK_RANK_FINISHED;
	check_end(&board->slots[0], block(board, 0, "barrier", -1, -1, 8),
		  TIMEOUT, 9);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_DEADLOCK);
	text = report(board, &facts, &verdict);
	expect_text(text, "for rank 1, which has finished");
	free(text);
	free(board);
}

Test(verdict, the_minority_of_a_mismatch_comes_first)
{
	struct check_board *board = board_of(4);
	struct check_facts facts = {.lost_rank = -1, .nothing_moves = 1};
	struct check_verdict verdict;
	char *text;

	for (uint32_t rank = 0; rank < 4; rank++) {
		complete(board, rank, "barrier", 5);
		block(board, rank, rank == 2 ? "broadcast" : "all_reduce",
		      rank == 2 ? 0 : -1, -1, rank == 2 ? 31 : 33);
	}
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_MISMATCH);
	cr_expect_eq(verdict.rank, 2);
	cr_expect_eq(check_exit_status(&verdict), 10);
	text = report(board, &facts, &verdict);
	expect_text(text, "disagree about collective #1 of group default");
	expect_text(text, "rank 2 called broadcast(src 0, float32, 4) at "
			  "prog.c:31");
	expect_text(text, "ranks 0-1,3 (3) called all_reduce(float32, 4) at "
			  "prog.c:33");
	cr_expect_lt(strstr(text, "prog.c:31"), strstr(text, "prog.c:33"));
	expect_text(text, "before it, rank 2 called barrier(float32, 4) #0");
	free(text);
	free(board);
}

Test(verdict, a_message_of_two_sizes_is_a_mismatch)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict;

	issue(board, 0, "send", 1, 3, 4);
	board->slots[0].ring[0].numel = 5;
	block(board, 1, "recv", 0, 3, 6);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_MISMATCH);
	free(board);
}

Test(verdict, a_killed_rank_comes_before_everything)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = 1,
				    .lost_how = "was killed by signal 9"};
	struct check_verdict verdict;
	char *text;

	block(board, 0, "barrier", -1, -1, 8);
	board->slots[1].state = CHECK_RANK_LOST;
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_LOST);
	cr_expect_eq(check_exit_status(&verdict), 13);
	text = report(board, &facts, &verdict);
	expect_text(text, "rank 1 was killed by signal 9");
	expect_text(text, "rank 1 is lost; no call yet");
	free(text);
	free(board);
}

/* A rank that gave up is the verdict only if somebody waits for it. */
Test(verdict, a_rank_that_gave_up_counts_when_awaited)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = 1,
				    .lost_how = "exited with status 3"};

	cr_expect_eq(check_judge(board, &facts).kind, CHECK_FINE);
	block(board, 0, "recv", 1, 0, 8);
	cr_expect_eq(check_judge(board, &facts).kind, CHECK_LOST);
	free(board);
}

Test(verdict, a_thousand_ranks_make_a_page)
{
	struct check_board *board = board_of(1024);
	struct check_facts facts = {.lost_rank = -1, .nothing_moves = 1};
	struct check_verdict verdict;
	int lines = 0;
	char *text;

	for (uint32_t rank = 0; rank < 1024; rank++)
		if (rank == 7)
			block(board, rank, "recv", 3, 0, 1);
		else
			block(board, rank, "all_reduce", -1, -1, 2);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.rank, 7);
	text = report(board, &facts, &verdict);
	expect_text(text, "ranks 0-6,8-1023 (1023) wait in all_reduce");
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_expect_lt(lines, 40);
	free(text);
	free(board);
}

Test(record, the_ring_forgets_the_oldest)
{
	struct check_board *board = board_of(1);
	struct check_slot *slot = &board->slots[0];

	for (int i = 0; i < CHECK_RING + 1; i++)
		complete(board, 0, "barrier", i);
	cr_expect_null(check_call_find(slot, 1));
	cr_expect_not_null(check_call_find(slot, 2));
	cr_expect_not_null(check_call_find(slot, CHECK_RING + 1));
	cr_expect_null(check_call_find(slot, CHECK_RING + 2));
	check_end(slot, 1, TIMEOUT, 0);
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
		complete(board, CHECK_MANY_RANKS, "barrier", i);
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
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict;
	uint32_t number;
	char *text;

	for (uint32_t rank = 0; rank < 3; rank++) {
		number = block(board, rank, "all_to_all", -1, -1, 7);
		board->slots[rank].ring[0].numel = 10 + rank;
	}
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_FINE);
	/* Unless a message was not as long as awaited. */
	check_end(&board->slots[1], number, -6, 9);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_MISMATCH);
	cr_expect_eq(verdict.rank, 1);
	text = report(board, &facts, &verdict);
	expect_text(text, "lengths of the parts in\n  collective #0 of group "
			  "default; rank 1 found it out\n");
	expect_text(text, "ranks 0-2 (3) called all_to_all(float32) at "
			  "prog.c:7\n");
	free(text);
	free(board);
}

/* ---- messages ---------------------------------------------------------- */

/* Rank 0 waits for a message from anybody and ran out of time. */
static struct check_board *await_anybody(uint32_t world_size)
{
	struct check_board *board = board_of(world_size);
	uint32_t number = block(board, 0, "recv", -1, 3, 8);

	check_end(&board->slots[0], number, TIMEOUT, 9);
	return board;
}

static enum check_verdict_kind kind_of(const struct check_board *board)
{
	struct check_facts facts = {.lost_rank = -1};

	return check_judge(board, &facts).kind;
}

Test(verdict, one_sender_that_may_move_is_enough)
{
	struct check_board *board = await_anybody(4);

	block(board, 1, "recv", 0, 5, 10);
	block(board, 2, "recv", 0, 5, 10);
	cr_expect_eq(kind_of(board), CHECK_TIMEOUT);
	free(board);
}

Test(verdict, no_sender_that_may_move_is_a_deadlock_and_all_are_named)
{
	struct check_board *board = await_anybody(4);
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict;
	char *text;

	block(board, 1, "recv", 0, 5, 10);
	block(board, 2, "recv", 1, 5, 11);
	board->slots[3].state = CHECK_RANK_FINISHED;
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_DEADLOCK);
	text = report(board, &facts, &verdict);
	expect_text(text,
		    "rank 0 waits in recv(any source, tag 3, float32, 4)");
	expect_text(text, "rank 0 waits in recv (any source, tag 3, prog.c:8) "
			  "for one of ranks 1-3 (3), of which rank 1 waits in "
			  "recv (src 0, tag 5, prog.c:10) for rank 0: a cycle");
	free(text);
	free(board);
}

/* What was sent and not yet received keeps its receiver out of every cycle. */
Test(verdict, a_message_under_way_is_no_deadlock)
{
	struct check_board *board = board_of(2);

	issue(board, 0, "send", 1, 7, 4);
	check_end(&board->slots[0], block(board, 0, "recv", 1, 8, 5), TIMEOUT,
		  9);
	block(board, 1, "recv", 0, 7, 6);
	cr_expect_eq(kind_of(board), CHECK_TIMEOUT);
	free(board);
}

/* A receive that is posted keeps its sender out of every cycle. */
Test(verdict, a_posted_receive_is_no_deadlock)
{
	struct check_board *board = board_of(2);

	issue(board, 0, "recv", -1, 7, 4);
	check_end(&board->slots[0], block(board, 0, "recv", 1, 8, 5), TIMEOUT,
		  9);
	block(board, 1, "send", 0, 7, 6);
	cr_expect_eq(kind_of(board), CHECK_TIMEOUT);
	free(board);
}

/* The second message of a kind is not the first. */
Test(verdict, an_earlier_message_is_no_excuse)
{
	struct check_board *board = board_of(2);

	check_end(&board->slots[0], issue(board, 0, "send", 1, 7, 4), 0, 1);
	check_end(&board->slots[1], issue(board, 1, "recv", 0, 7, 4), 0, 1);
	check_end(&board->slots[0], block(board, 0, "recv", 1, 8, 5), TIMEOUT,
		  9);
	block(board, 1, "recv", 0, 7, 6);
	cr_expect_eq(kind_of(board), CHECK_DEADLOCK);
	free(board);
}

/* Nor is one that a receive from any source has had. */
Test(verdict, a_message_heard_is_no_excuse)
{
	struct check_board *board = board_of(3);

	for (uint32_t rank = 1; rank < 3; rank++) {
		uint32_t number = issue(board, 0, "recv", -1, 3, 7);

		check_source(&board->slots[0], number, (int32_t)rank);
		check_end(&board->slots[0], number, 0, 2);
		check_end(&board->slots[rank],
			  issue(board, rank, "send", 0, 3, 1), 0, 1);
		board->slots[rank].state = CHECK_RANK_FINISHED;
	}
	check_end(&board->slots[0], block(board, 0, "recv", -1, 3, 8), TIMEOUT,
		  9);
	cr_expect_eq(kind_of(board), CHECK_DEADLOCK);
	issue(board, 2, "send", 0, 3, 1);
	cr_expect_eq(kind_of(board), CHECK_TIMEOUT);
	free(board);
}

/* Messages of growing size, the first of which has been received. */
Test(verdict, messages_are_compared_in_order)
{
	struct check_board *board = board_of(2);

	issue(board, 0, "send", 1, 3, 4);
	issue(board, 0, "send", 1, 3, 4);
	board->slots[0].ring[1].numel = 5;
	check_end(&board->slots[1], issue(board, 1, "recv", 0, 3, 6), 0, 0);
	block(board, 1, "recv", 0, 3, 7);
	board->slots[1].ring[1].numel = 5;
	cr_expect_eq(kind_of(board), CHECK_FINE);
	board->slots[1].ring[1].numel = 4;
	cr_expect_eq(kind_of(board), CHECK_MISMATCH);
	free(board);
}

Test(verdict, messages_that_nobody_waits_with_are_compared)
{
	struct check_board *board = board_of(2);

	issue(board, 0, "send", 1, 3, 4);
	issue(board, 1, "recv", 0, 3, 6);
	block(board, 0, "barrier", -1, -1, 5);
	block(board, 1, "recv", 0, 2, 7);
	cr_expect_eq(kind_of(board), CHECK_FINE);
	board->slots[1].ring[0].numel = 5;
	cr_expect_eq(kind_of(board), CHECK_MISMATCH);
	board->slots[1].ring[0].index = CHECK_INDEX_UNKNOWN;
	cr_expect_eq(kind_of(board), CHECK_FINE);
	free(board);
}

/* How many messages of a kind there were is known unless a receive from any
 * source may have had one, or there are too many kinds. */
Test(record, messages_are_numbered_by_kind)
{
	struct check_board *board = board_of(1);
	struct check_slot *slot = &board->slots[0];
	const struct check_call *call;

	issue(board, 0, "send", 1, 7, 1);
	issue(board, 0, "send", 1, 8, 1);
	issue(board, 0, "send", 2, 7, 1);
	issue(board, 0, "recv", 1, 7, 1);
	call = check_call_find(slot, issue(board, 0, "send", 1, 7, 1));
	cr_expect_eq(call->index, 1);
	for (int i = 0; i < CHECK_RING - 1; i++)
		complete(board, 0, "barrier", i);
	call = check_call_find(slot, issue(board, 0, "send", 1, 7, 1));
	cr_expect_eq(call->index, 2);
	call = check_call_find(slot, issue(board, 0, "send", 2, 7, 1));
	cr_expect_eq(call->index, 1);
	for (int tag = 9; tag < 9 + CHECK_KINDS; tag++)
		issue(board, 0, "send", 1, tag, 1);
	call = check_call_find(slot, issue(board, 0, "send", 1, 7, 1));
	cr_expect_eq(call->index, 3);
	call = check_call_find(slot, issue(board, 0, "send", 2, 8, 1));
	cr_expect_eq(call->index, CHECK_INDEX_UNKNOWN);
	free(board);
	board = board_of(1);
	slot = &board->slots[0];
	issue(board, 0, "recv", -1, 7, 1);
	call = check_call_find(slot, issue(board, 0, "recv", 1, 7, 1));
	cr_expect_eq(call->index, CHECK_INDEX_UNKNOWN);
	call = check_call_find(slot, issue(board, 0, "recv", 1, 8, 1));
	cr_expect_eq(call->index, 0);
	free(board);
}

Test(verdict, unequal_parts_count_where_nobody_waits_for_them)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = -1};
	struct check_verdict verdict;
	uint32_t number;

	issue(board, 0, "all_to_all", -1, -1, 10);
	number = issue(board, 1, "all_to_all", -1, -1, 10);
	check_end(&board->slots[1], number, MISMATCH, 1);
	block(board, 0, "barrier", -1, -1, 11);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_MISMATCH);
	cr_expect_eq(verdict.rank, 1);
	free(board);
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
	struct check_facts facts = {.lost_rank = -1, .nothing_moves = 1};
	struct check_verdict verdict;
	char *text;

	for (uint32_t rank = 0; rank < 4; rank++) {
		uint32_t number = issue(board, rank, "all_reduce", -1, -1, 20);

		for (uint32_t i = 0; rank > 0 && i < 2; i++)
			touch(board, rank, number, 2 + i);
		if (rank == 0)
			block(board, rank, "all_reduce", -1, -1, 30);
	}
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_HAZARD);
	cr_expect_eq(check_exit_status(&verdict), 14);
	text = report(board, &facts, &verdict);
	expect_text(text, "buffer hazard: memory was touched while an "
			  "operation held it, by ranks 1-3 (3)\n");
	expect_text(text, "  ranks 1-3 (3) called all_reduce(float32, 4) #0 of "
			  "group default at prog.c:20\n  and wrote to its "
			  "tensor, from element 2 of 4 on, before the wait at "
			  "prog.c:22\n");
	free(text);
	free(board);
}

Test(verdict, memory_read_too_early_is_told_with_its_line)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = -1};
	struct check_hazard hazard = {.kind = CHECK_HAZARD_READ,
				      .buffer = "tensor",
				      .function = "norm",
				      .element = 3,
				      .numel = 4};
	struct check_verdict verdict;
	char *text;

	issue(board, 1, "recv", 0, 0, 20);
	check_site_set(&hazard.access, "norm.c", 21);
	check_site_set(&hazard.other.site, "prog.c", 22);
	check_touch(&board->slots[1], &hazard, 1, 0);
	verdict = check_judge(board, &facts);
	text = report(board, &facts, &verdict);
	expect_text(text, "  and read its tensor, element 3 of 4, at norm.c:21 "
			  "in norm, before the wait at prog.c:22\n");
	free(text);
	free(board);
}

Test(verdict, memory_given_twice_is_a_hazard)
{
	struct check_board *board = board_of(2);
	struct check_facts facts = {.lost_rank = -1};
	struct check_hazard hazard = {.kind = CHECK_HAZARD_SHARED,
				      .buffer = "tensor",
				      .given = "in",
				      .element = 1,
				      .numel = 4};
	struct check_verdict verdict;
	char *text;

	issue(board, 1, "recv", 0, 0, 20);
	issue(board, 1, "gather", 0, -1, 21);
	check_touch(&board->slots[1], &hazard, 1, 2);
	verdict = check_judge(board, &facts);
	cr_expect_eq(verdict.kind, CHECK_HAZARD);
	cr_expect_eq(verdict.rank, 1);
	text = report(board, &facts, &verdict);
	expect_text(text, "  rank 1 called recv(src 0, tag 0, float32, 4) of "
			  "group default at prog.c:20\n  and, before the wait "
			  "for it, gather(dst 0, float32, 4) #0 of group "
			  "default at prog.c:21:\n  its in begins in element 1 "
			  "of the 4 of the first one's tensor");
	free(text);
	free(board);
}
