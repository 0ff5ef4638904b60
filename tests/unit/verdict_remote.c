/* The verdict engine on boards of jobs that call each other's functions. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/outputs.h"
#include "check/proof.h"
#include "tests/support/board.h"

enum { PEER_LOST = -8 };

static struct check_board *workers(uint32_t world_size, uint32_t threads)
{
	struct check_board *board = board_of(world_size);

	for (uint32_t rank = 0; rank < world_size; rank++)
		check_rpc_join(&board->slots[rank], 0, 0, threads, "w");
	return board;
}

/* A wait by `by` of rank for its call on worker. */
static uint32_t await(struct check_board *board, uint32_t rank, int32_t by,
		      int32_t worker, uint64_t call, const char *function,
		      int line)
{
	struct check_rpc_wait wait = {.by = by,
				      .worker = worker,
				      .caller = (int32_t)rank,
				      .call = call,
				      .timeout_ns = 60000000000};

	snprintf(wait.op, sizeof wait.op, "%s",
		 worker < 0 ? "rpc_shutdown" : "rpc_sync");
	snprintf(wait.function, sizeof wait.function, "%s", function);
	check_site_set(&wait.site, "ps.c", line);
	return check_rpc_wait(&board->slots[rank], &wait);
}

static uint32_t await_by_own(struct check_board *board, uint32_t rank,
			     int32_t worker, uint64_t call,
			     const char *function, int line)
{
	return await(board, rank, CHECK_BY_OWN, worker, call, function, line);
}

/* A call of caller that rank runs, from 1 s on; returns its place. */
static int32_t run(struct check_board *board, uint32_t rank, int32_t caller,
		   uint64_t call, const char *function)
{
	struct check_slot *slot = &board->slots[rank];
	uint32_t place =
		check_rpc_queue(slot, caller, call, function, 500000000);

	check_rpc_run(slot, place, 1000000000);
	return (int32_t)place;
}

static void queue(struct check_board *board, uint32_t rank, int32_t caller,
		  uint64_t call, const char *function)
{
	(void)check_rpc_queue(&board->slots[rank], caller, call, function, 5);
}

static void shut_down(struct check_board *board, uint32_t rank, int line)
{
	check_rpc_end(&board->slots[rank], CHECK_RPC_ENDING);
	(void)await_by_own(board, rank, -1, 0, "", line);
}

static void finish(struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		check_rpc_end(&board->slots[rank], CHECK_RPC_ENDED);
		board->slots[rank].state = CHECK_RANK_FINISHED;
	}
}

static void expect_proved(const struct check_board *board,
			  enum check_verdict_kind kind)
{
	cr_expect_eq(
		check_prove(board, &(struct check_rules){.timeout_ns = 0}).kind,
		kind);
}

/* Rank 0 calls f on rank 1, which calls g on rank 0, which calls f again where
 * the only thread is taken. */
static struct check_board *ring_of_calls(uint32_t threads)
{
	struct check_board *board = workers(2, threads);

	(void)await_by_own(board, 0, 1, 1, "f", 41);
	(void)await(board, 1, run(board, 1, 0, 1, "f"), 0, 1, "g", 60);
	(void)await(board, 0, run(board, 0, 1, 1, "g"), 1, 2, "f", 70);
	queue(board, 1, 0, 2, "f");
	shut_down(board, 1, 80);
	return board;
}

Test(verdict_remote, a_cycle_names_functions_and_lines)
{
	struct check_board *board = ring_of_calls(1);

	expect_proved(board, CHECK_DEADLOCK);
	board_expect(
		board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		"deadlock: no rank can ever move",
		"rank 0 waits in rpc_sync(f) on rank 1 at ps.c:41",
		"rank 1 serves f for rank 0; it waits in rpc_sync(g) on rank 0 "
		"at ps.c:60",
		"rank 1 has yet to serve f for rank 0, with 1 worker thread",
		"rank 0 waits in rpc_sync (f, ps.c:41) for rank 1, which "
		"serves "
		"f for rank 0 and waits in rpc_sync (g, ps.c:60) for rank 0, "
		"which serves g for rank 1 and waits in rpc_sync (f, ps.c:70) "
		"for rank 1, of which the one worker thread is taken, and so "
		"on "
		"in a cycle",
		NULL);
}

Test(verdict_remote, with_a_free_thread_there_is_no_cycle)
{
	struct check_board *board = ring_of_calls(2);

	expect_proved(board, CHECK_FINE);
	board_expect(board, &board_usual, CHECK_FINE, -1, NULL);
}

Test(verdict_remote, a_cycle_of_functions_may_stand_beside_those_who_wait)
{
	struct check_board *board = workers(3, 1);

	(void)await_by_own(board, 2, 1, 9, "h", 30);
	queue(board, 1, 2, 9, "h");
	(void)await_by_own(board, 0, 1, 1, "f", 41);
	(void)await(board, 1, run(board, 1, 0, 1, "f"), 1, 1, "f", 60);
	queue(board, 1, 1, 1, "f");
	shut_down(board, 1, 80);
	expect_proved(board, CHECK_DEADLOCK);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "rank 2 waits in rpc_sync(h) on rank 1 at ps.c:30",
		     "for rank 1, which serves f for rank 0 and waits in "
		     "rpc_sync (f, ps.c:60) for rank 1, of which the one "
		     "worker thread is taken, and so on in a cycle",
		     NULL);
}

Test(verdict_remote, a_rank_in_a_collective_still_serves)
{
	struct check_board *board = workers(2, 4);

	/* Rank 1's function waits for rank 0, which waits for rank 1's own
	 * thread, which waits for nobody. */
	(void)board_block(board, 0, "all_reduce", -1, -1, 10);
	(void)await(board, 1, run(board, 1, 0, 7, "f"), 0, 1, "g", 60);
	(void)run(board, 0, 1, 1, "g");
	expect_proved(board, CHECK_FINE);
	board_expect(board, &board_usual, CHECK_FINE, -1, NULL);
}

Test(verdict_remote, collectives_and_calls_make_one_graph)
{
	struct check_board *board = workers(3, 1);

	/* Rank 2's own thread is in a barrier with rank 0, which waits for a
	 * function that can never end. */
	(void)board_block(board, 2, "barrier", -1, -1, 12);
	(void)await_by_own(board, 0, 1, 1, "f", 41);
	(void)await(board, 1, run(board, 1, 0, 1, "f"), 1, 1, "g", 60);
	queue(board, 1, 1, 1, "g");
	(void)board_block(board, 1, "barrier", -1, -1, 12);
	expect_proved(board, CHECK_DEADLOCK);
	board_expect(board, &board_stuck, CHECK_DEADLOCK, BOARD_ANY,
		     "ranks 1-2 (2) wait in barrier(float32, 4) #0 of group "
		     "default at prog.c:12",
		     "rank 1 serves f for rank 0; it waits in rpc_sync(g) on "
		     "rank 1 at ps.c:60",
		     NULL);
}

Test(verdict_remote, what_the_callee_does_not_know_is_under_way)
{
	struct check_board *board = workers(2, 1);

	(void)await_by_own(board, 0, 1, 1, "f", 41);
	shut_down(board, 1, 80);
	expect_proved(board, CHECK_FINE);
	board_expect(board, &board_usual, CHECK_FINE, -1, NULL);
}

Test(verdict_remote, a_function_that_runs_is_no_deadlock)
{
	struct check_board *board = workers(2, 1);

	(void)await_by_own(board, 0, 1, 1, "f", 41);
	(void)run(board, 1, 0, 1, "f");
	shut_down(board, 1, 80);
	expect_proved(board, CHECK_FINE);
	board_expect(board, &board_usual, CHECK_FINE, -1, NULL);
}

Test(verdict_remote, a_job_that_shuts_down_is_fine)
{
	struct check_board *board = workers(2, 1);

	shut_down(board, 0, 80);
	expect_proved(board, CHECK_FINE);
	shut_down(board, 1, 80);
	expect_proved(board, CHECK_FINE);
	finish(board);
	board_expect_end(board, CHECK_FINE, -1, NULL);
}

Test(verdict_remote, a_deadline_that_the_program_chose_proves_nothing)
{
	struct check_board *board = ring_of_calls(1);

	board->slots[0].remote.waits[0].gives_up = 1;
	expect_proved(board, CHECK_FINE);
	free(board);
}

Test(verdict_remote, a_timeout_says_who_is_served_where)
{
	const struct check_facts facts = {.lost_rank = -1,
					  .now_ns = 61000000000};
	struct check_board *board = workers(3, 2);

	check_rpc_wait_end(&board->slots[0],
			   await_by_own(board, 0, 1, 1, "f", 41), BOARD_TIMEOUT,
			   61000000000);
	(void)await_by_own(board, 2, 1, 1, "f", 41);
	(void)run(board, 1, 0, 1, "f");
	(void)run(board, 1, 2, 1, "f");
	shut_down(board, 1, 80);
	board_expect(board, &facts, CHECK_TIMEOUT, BOARD_ANY,
		     "timeout: a call was not complete after 60.000 s",
		     "ranks 0,2 (2) wait in rpc_sync(f) on rank 1 at ps.c:41",
		     "rank 1 serves f for ranks 0,2 (2), for 60.000 s",
		     "!no rank can ever move", NULL);
}

Test(verdict_remote, a_callee_that_died_is_lost)
{
	const struct check_facts facts = {.lost_rank = 1,
					  .lost_how = "exited with status 3"};
	struct check_board *board = workers(3, 2);

	check_rpc_wait_end(&board->slots[0],
			   await_by_own(board, 0, 1, 1, "f", 41), PEER_LOST, 9);
	(void)await(board, 2, run(board, 2, 0, 2, "g"), 1, 1, "f", 60);
	board->slots[1].state = CHECK_RANK_FINISHED;
	board_expect(board, &facts, CHECK_LOST, 1,
		     "rank lost: rank 1 exited with status 3",
		     "rank 0 waits in rpc_sync(f) on rank 1 at ps.c:41",
		     "rank 2 serves g for rank 0; it waits in rpc_sync(f) on "
		     "rank 1 at ps.c:60",
		     NULL);
}

Test(verdict_remote, a_worker_that_has_shut_down_serves_nobody)
{
	struct check_board *board = workers(2, 2);

	check_rpc_end(&board->slots[1], CHECK_RPC_ENDED);
	check_rpc_wait_end(&board->slots[0],
			   await_by_own(board, 0, 1, 1, "f", 41), PEER_LOST, 9);
	board_expect(board, &board_usual, CHECK_DEADLOCK, 0,
		     "rank 0 waits in rpc_sync (f, ps.c:41) for rank 1, which "
		     "serves no remote calls any more",
		     NULL);
}

Test(verdict_remote, an_error_that_was_dealt_with_is_none)
{
	struct check_board *board = workers(2, 2);

	check_rpc_wait_end(&board->slots[0],
			   await_by_own(board, 0, 1, 1, "f", 41), BOARD_TIMEOUT,
			   9);
	check_rpc_wait_end(&board->slots[0],
			   await_by_own(board, 0, 1, 2, "f", 42), 0, 10);
	finish(board);
	board_expect_end(board, CHECK_FINE, -1, NULL);
}

Test(verdict_remote, a_reference_that_nobody_freed_is_left)
{
	struct check_reference reference = {
		.kind = CHECK_REFERENCE_HANDLE, .owner = 1, .function = "make"};
	struct check_board *board = workers(2, 2);
	uint32_t place;

	check_site_set(&reference.site, "ps.c", 33);
	check_rpc_hold(&board->slots[0], &reference);
	place = check_rpc_hold(&board->slots[0], &reference);
	check_rpc_release(&board->slots[0], place);
	finish(board);
	board_expect_end(board, CHECK_LEFT, 0,
			 "left behind: a reference was never freed",
			 "rank 0 made it at ps.c:33: the value of make, which "
			 "lies on rank 1",
			 "!others", NULL);
}

Test(verdict_remote, calls_of_two_kinds_are_no_mismatch)
{
	struct check_board *board = workers(2, 2);

	(void)await_by_own(board, 0, 1, 1, "f", 41);
	(void)await_by_own(board, 1, 0, 1, "g", 42);
	strcpy(board->slots[1].ring[0].op, "to_here");
	board_expect(board, &board_usual, CHECK_FINE, -1, NULL);
}

/* The document of the verdict on board, which is freed, as JSON. */
static json_t *document_of(struct check_board *board,
			   const struct check_facts *facts)
{
	const struct check_verdict verdict = check_judge(board, facts);
	char path[] = "/tmp/verdict-remote-XXXXXX";
	const struct check_outputs outputs = {.json = path};
	const struct check_job job = {.board = board,
				      .facts = facts,
				      .verdict = &verdict,
				      .world = "tcp",
				      .outputs = &outputs};
	json_t *document;
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(check_conclude(stderr, &job, NULL),
		     check_exit_status(&verdict));
	document = json_load_file(path, 0, NULL);
	cr_assert_not_null(document);
	close(fd);
	unlink(path);
	free(board);
	return document;
}

Test(verdict_remote, the_document_lists_what_is_served)
{
	json_t *document = document_of(ring_of_calls(1), &board_stuck);
	json_t *serving = json_object_get(document, "serving");
	const char *function, *state, *waits_in;
	int line;

	cr_assert_eq(json_array_size(serving), 3);
	cr_assert_eq(json_unpack(json_array_get(serving, 1),
				 "{s:s, s:s, s:{s:s, s:{s:i}}}", "function",
				 &function, "state", &state, "waits_in",
				 "function", &waits_in, "site", "line", &line),
		     0);
	cr_expect_str_eq(function, "f");
	cr_expect_str_eq(state, "waiting");
	cr_expect_str_eq(waits_in, "g");
	cr_expect_eq(line, 60);
	cr_expect_eq(json_array_size(json_object_get(document, "sites")), 3);
	cr_expect_eq(json_array_size(json_object_get(document, "culprits")), 2);
	json_decref(document);
}

/* Rank 0 gave up its call on rank 1; the ranks from `from` on shut down. */
static void expect_late(uint32_t from, int64_t culprit)
{
	const struct check_facts facts = {.lost_rank = -1,
					  .now_ns = 61000000000};
	struct check_board *board = workers(3, 2);
	json_t *document, *culprits;

	check_rpc_wait_end(&board->slots[0],
			   await_by_own(board, 0, 1, 1, "f", 41), BOARD_TIMEOUT,
			   61000000000);
	if (from == 1)
		(void)run(board, 1, 0, 1, "f");
	for (uint32_t rank = from; rank < 3; rank++)
		shut_down(board, rank, 80);
	document = document_of(board, &facts);
	culprits = json_object_get(document, "culprits");
	cr_expect_str_eq(
		json_string_value(json_object_get(document, "verdict")),
		"timeout");
	cr_assert_eq(json_array_size(culprits), 1);
	cr_expect_eq(json_integer_value(json_array_get(culprits, 0)), culprit);
	json_decref(document);
}

Test(verdict_remote, who_shuts_down_is_late_for_a_function_that_runs)
{
	expect_late(1, 1);
}

Test(verdict_remote, who_shuts_down_waits_for_the_worker_that_has_not)
{
	expect_late(2, 1);
}
