/* What the records of a job prove while it runs, and what once a call failed:
 * tables of ranks and where they stand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/proof.h"
#include "tests/support/board.h"

#define SECOND ((int64_t)1000000000)

enum { TIMEOUT = -5, ABORTED = -9 };

/* FAILED: where it stands; GIVEN_UP: there, for another that failed; LOOKED:
 * there, but it never waited; GONE: it failed at once, and the rank ended;
 * LATE: it failed, and the rank stands elsewhere. */
enum stand { DONE, ASYNC, WAITS, FAILED, GIVEN_UP, LOOKED, GONE, LATE };

/* A call of a rank, on float32 x 4 unless numel says otherwise. */
struct step {
	uint32_t rank;
	const char *op; /* NULL: no more steps */
	int peer, tag;  /* root, src or dst; -1: none */
	enum stand stand;
	int timeout_s; /* 0: the job's, a minute */
	uint64_t numel;
};

struct proof_case {
	const char *what;
	uint32_t world_size;
	struct step steps[8];
	enum check_verdict_kind proved;
	int state; /* of the last rank, if it makes no call; 0: it runs */
};

/* The step at that time. */
static void take(struct check_board *board, const struct step *step,
		 int64_t now_ns)
{
	struct check_slot *slot = &board->slots[step->rank];
	struct check_call call = {.peer = step->peer,
				  .peer_rank = step->peer,
				  .tag = step->tag,
				  .numel = step->numel ? step->numel : 4,
				  .timeout_ns = 60 * SECOND,
				  .issued_ns = now_ns};
	uint32_t number;

	if (step->timeout_s)
		call.timeout_ns = step->timeout_s * SECOND;
	if (step->tag < 0)
		call.index = check_collectives(slot, 0, 0);
	snprintf(call.op, sizeof call.op, "%s", step->op);
	number = check_issue(slot, &call);
	if (step->stand >= WAITS && step->stand <= GIVEN_UP)
		check_wait(slot, number, NULL);
	if (step->stand == LOOKED)
		check_look(slot, number);
	if (step->stand == DONE)
		check_end(slot, number, 0, now_ns);
	if (step->stand >= FAILED)
		check_end(slot, number,
			  step->stand == GIVEN_UP ? ABORTED : TIMEOUT, now_ns);
	if (step->stand == GONE)
		slot->state = CHECK_RANK_FINISHED;
}

static const struct proof_case cases[] = {
	{.what = "two collectives in the other order",
	 .world_size = 3,
	 .steps = {{0, "all_reduce", -1, -1, WAITS, 0, 0},
		   {1, "broadcast", 0, -1, WAITS, 0, 0},
		   {2, "all_reduce", -1, -1, WAITS, 0, 0}},
	 .proved = CHECK_MISMATCH},
	{.what = "the same while another rank computes",
	 .world_size = 3,
	 .steps = {{0, "all_reduce", -1, -1, WAITS, 0, 0},
		   {1, "broadcast", 0, -1, WAITS, 0, 0}},
	 .proved = CHECK_MISMATCH},
	{.what = "everybody is in the same collective, however long it takes",
	 .world_size = 2,
	 .steps = {{0, "all_reduce", -1, -1, WAITS, 0, 0},
		   {1, "all_reduce", -1, -1, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "two receives",
	 .world_size = 2,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "two receives while a third rank computes",
	 .world_size = 3,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "two receives while a third rank is not known",
	 .world_size = 3,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_FINE,
	 .state = CHECK_RANK_UNKNOWN},
	{.what = "two receives, and a third rank is gone",
	 .world_size = 3,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
	{.what = "two receives, and a third rank was killed",
	 .world_size = 3,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_FINE,
	 .state = CHECK_RANK_LOST},
	{.what = "two receives, one by a deadline of its own",
	 .world_size = 2,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 20, 0}},
	 .proved = CHECK_FINE},
	{.what = "two receives, one by a later deadline",
	 .world_size = 2,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 600, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "two receives, one that failed and may be dealt with",
	 .world_size = 2,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, FAILED, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "a receive of what has been sent",
	 .world_size = 2,
	 .steps = {{1, "send", 0, 0, ASYNC, 0, 0},
		   {0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "two sends whose bytes are on their way",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, WAITS, 0, 0},
		   {1, "send", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "a message of another size",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, DONE, 0, 8},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_MISMATCH},
	{.what = "a message of another size that may not be meant",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, DONE, 0, 8},
		   {1, "recv", -1, 0, DONE, 0, 8},
		   {1, "recv", 0, 0, WAITS, 0, 0},
		   {0, "recv", 1, 1, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "a barrier for who is gone",
	 .world_size = 3,
	 .steps = {{0, "barrier", -1, -1, WAITS, 0, 0},
		   {1, "barrier", -1, -1, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a root that waits for another, and who waits for the root",
	 .world_size = 3,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "broadcast", 0, -1, WAITS, 0, 0},
		   {2, "broadcast", 0, -1, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "a root that may still hand its bytes out",
	 .world_size = 2,
	 .steps = {{0, "broadcast", 0, -1, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "who may still hand on the root's bytes",
	 .world_size = 3,
	 .steps = {{0, "broadcast", 0, -1, DONE, 0, 0},
		   {1, "broadcast", 0, -1, WAITS, 0, 0},
		   {2, "recv", 1, 0, WAITS, 0, 0},
		   {0, "barrier", -1, -1, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "who only gives to a root",
	 .world_size = 2,
	 .steps = {{0, "recv", 1, 0, WAITS, 0, 0},
		   {1, "reduce", 0, -1, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "a root that waits for what it is given",
	 .world_size = 2,
	 .steps = {{0, "reduce", 0, -1, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "a call of which nobody knows what ends it",
	 .world_size = 2,
	 .steps = {{0, "unheard_of", -1, -1, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "a group that the other does not come to make",
	 .world_size = 2,
	 .steps = {{0, "new_group", -1, -1, WAITS, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "nobody waits",
	 .world_size = 2,
	 .steps = {{0, "barrier", -1, -1, DONE, 0, 0},
		   {1, "barrier", -1, -1, DONE, 0, 0}},
	 .proved = CHECK_FINE},
};

static const struct proof_case ends[] = {
	{.what = "both ends of a message",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, FAILED, 0, 0},
		   {1, "recv", 0, 0, FAILED, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "both, and the receive is from any source",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, FAILED, 0, 0},
		   {1, "recv", -1, 0, FAILED, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "a receive, and the late send finds nobody",
	 .world_size = 2,
	 .steps = {{1, "recv", 0, 0, FAILED, 0, 0},
		   {0, "send", 1, 0, GONE, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "a call under way, and the one that stood behind it",
	 .world_size = 2,
	 .steps = {{0, "all_reduce", -1, -1, LATE, 0, 0},
		   {0, "barrier", -1, -1, GIVEN_UP, 0, 0},
		   {1, "all_reduce", -1, -1, WAITS, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "a receive, and who was late finds another gone",
	 .world_size = 3,
	 .steps = {{1, "recv", 0, 0, FAILED, 0, 0},
		   {0, "recv", 2, 0, GONE, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "a receive, and who was late only looked at another",
	 .world_size = 2,
	 .steps = {{1, "recv", 0, 0, FAILED, 0, 0},
		   {0, "recv", 1, 0, LOOKED, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "ranks that only looked at what one that ended did not call",
	 .world_size = 3,
	 .steps = {{0, "all_reduce", -1, -1, LOOKED, 0, 0},
		   {1, "all_reduce", -1, -1, LOOKED, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a receive, and the rank went on to another",
	 .world_size = 2,
	 .steps = {{1, "recv", 0, 0, FAILED, 0, 0},
		   {1, "recv", 0, 1, WAITS, 0, 0},
		   {0, "recv", 1, 0, FAILED, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "a receive, and the rank went on to another that failed",
	 .world_size = 2,
	 .steps = {{1, "recv", 0, 0, FAILED, 0, 0},
		   {1, "recv", 0, 1, FAILED, 0, 0},
		   {0, "recv", 1, 0, WAITS, 0, 0}},
	 .proved = CHECK_TIMEOUT},
	{.what = "two receives",
	 .world_size = 2,
	 .steps = {{0, "recv", 1, 0, FAILED, 0, 0},
		   {1, "recv", 0, 0, FAILED, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "one of two receives",
	 .world_size = 2,
	 .steps = {{0, "recv", 1, 0, FAILED, 0, 0},
		   {1, "recv", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "both ends of two messages of other tags",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, FAILED, 0, 0},
		   {1, "recv", 0, 1, FAILED, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "a receive of the second message where one was sent",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, DONE, 0, 0},
		   {1, "recv", 0, 0, DONE, 0, 0},
		   {1, "recv", 0, 0, FAILED, 0, 0},
		   {0, "recv", 1, 0, FAILED, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "a barrier for who is gone",
	 .world_size = 2,
	 .steps = {{0, "barrier", -1, -1, FAILED, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
};

static struct check_board *board_after(const struct proof_case *c)
{
	struct check_board *board = board_of(c->world_size);

	if (c->state)
		board->slots[c->world_size - 1].state = (uint32_t)c->state;
	for (const struct step *step = c->steps; step->op; step++)
		take(board, step, step - c->steps);
	return board;
}

static void expect(const struct proof_case *c, enum check_verdict_kind kind)
{
	cr_expect(kind == c->proved, "%s: %s, not %s", c->what,
		  check_verdict_name(kind), check_verdict_name(c->proved));
}

static void prove(const struct proof_case *c, size_t num, bool agreed)
{
	const struct check_rules rules = {60 * SECOND, agreed, false};

	for (size_t i = 0; i < num; i++) {
		struct check_board *board = board_after(&c[i]);

		expect(&c[i], check_prove(board, &rules).kind);
		free(board);
	}
}

Test(proof, proves_what_is_certain_and_nothing_else)
{
	prove(cases, sizeof cases / sizeof *cases, false);
}

/* Over MPI and NCCL no call ends before all have issued it. */
static const struct proof_case agreeing[] = {
	{.what = "a gather without one that is gone",
	 .world_size = 3,
	 .steps = {{0, "gather", 0, -1, WAITS, 0, 0},
		   {1, "gather", 0, -1, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a broadcast without one that is gone",
	 .world_size = 3,
	 .steps = {{0, "broadcast", 0, -1, WAITS, 0, 0},
		   {1, "broadcast", 0, -1, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a broadcast without one that computes",
	 .world_size = 3,
	 .steps = {{0, "broadcast", 0, -1, WAITS, 0, 0},
		   {1, "broadcast", 0, -1, WAITS, 0, 0}},
	 .proved = CHECK_FINE},
	{.what = "two sends to each other",
	 .world_size = 2,
	 .steps = {{0, "send", 1, 0, WAITS, 0, 0},
		   {1, "send", 0, 0, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK},
	{.what = "a gather in which all are",
	 .world_size = 2,
	 .steps = {{0, "gather", 0, -1, WAITS, 0, 0},
		   {1, "gather", 0, -1, WAITS, 0, 0}},
	 .proved = CHECK_FINE}};

Test(proof, proves_more_where_ranks_agree_before)
{
	struct check_board *board;

	prove(agreeing, sizeof agreeing / sizeof *agreeing, true);
	/* Who has left may yet be sent what it is sent by itself. */
	board = board_after(&agreeing[1]);
	cr_expect_eq(
		check_prove(board,
			    &(struct check_rules){.timeout_ns = 60 * SECOND})
			.kind,
		CHECK_FINE);
	free(board);
}

/* Rank 1 of two waits for a key, and rank 0 has ended. */
static int judge_key(int64_t timeout_ns, int users, bool alone)
{
	const struct check_rules rules = {.timeout_ns = 60 * SECOND,
					  .alone = alone};
	struct check_board *board = calloc(1, check_board_bytes(2));
	enum check_verdict_kind kind;

	cr_assert_not_null(board);
	check_board_init(board, 2);
	board->slots[0].state = CHECK_RANK_FINISHED;
	check_await_key(&board->slots[1], "store_get", "k", timeout_ns, users,
			&(struct check_site){"a.c", 3});
	kind = check_prove(board, &rules).kind;
	free(board);
	return (int)kind;
}

/* Threads and other processes may set it, and who set a time has plans. */
Test(proof, a_key_that_only_ranks_can_set)
{
	cr_expect_eq(judge_key(300 * SECOND, 2, true), CHECK_DEADLOCK);
	cr_expect_eq(judge_key(300 * SECOND, 2, false), CHECK_FINE);
	cr_expect_eq(judge_key(300 * SECOND, 0, true), CHECK_FINE);
	cr_expect_eq(judge_key(300 * SECOND, 3, true), CHECK_FINE);
	cr_expect_eq(judge_key(59 * SECOND, 2, true), CHECK_FINE);
}

/* A call that one never made, and that the others could do without, is the
 * same fault whether they wait in it, have done with it, or run into it. */
static const struct proof_case unmade[] = {
	{.what = "a broadcast without one that is gone",
	 .world_size = 4,
	 .steps = {{0, "broadcast", 0, -1, FAILED, 0, 0},
		   {1, "broadcast", 0, -1, DONE, 0, 0},
		   {2, "broadcast", 0, -1, DONE, 0, 0}},
	 .proved = CHECK_MISMATCH,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a sum after that broadcast",
	 .world_size = 4,
	 .steps = {{0, "broadcast", 0, -1, DONE, 0, 0},
		   {1, "broadcast", 0, -1, DONE, 0, 0},
		   {2, "broadcast", 0, -1, DONE, 0, 0},
		   {0, "all_reduce", -1, -1, WAITS, 0, 0},
		   {1, "all_reduce", -1, -1, FAILED, 0, 0}},
	 .proved = CHECK_MISMATCH,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a reduce without its root",
	 .world_size = 3,
	 .steps = {{0, "reduce", 2, -1, FAILED, 0, 0},
		   {1, "reduce", 2, -1, FAILED, 0, 0}},
	 .proved = CHECK_MISMATCH,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a gather without its root, while others wait for it "
		 "elsewhere",
	 .world_size = 4,
	 .steps = {{0, "gather", 3, -1, FAILED, 0, 0},
		   {1, "recv", 3, 0, WAITS, 0, 0},
		   {2, "recv", 3, 0, WAITS, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a reduce without one that its root needs",
	 .world_size = 3,
	 .steps = {{0, "reduce", 0, -1, FAILED, 0, 0},
		   {1, "reduce", 0, -1, DONE, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED},
	{.what = "a sum, and then a broadcast, without one that is gone",
	 .world_size = 3,
	 .steps = {{0, "all_reduce", -1, -1, FAILED, 0, 0},
		   {1, "all_reduce", -1, -1, FAILED, 0, 0}},
	 .proved = CHECK_DEADLOCK,
	 .state = CHECK_RANK_FINISHED}};

Test(proof, a_call_that_could_do_without_who_is_gone_is_missing)
{
	for (size_t i = 0; i < sizeof unmade / sizeof *unmade; i++) {
		struct check_board *board = board_after(&unmade[i]);

		expect(&unmade[i], board_kind(board));
		free(board);
	}
}

/* Of a right program no cycle is told, however slow its ranks are. */
Test(proof, a_call_that_ran_out_of_time_is_no_cycle_by_itself)
{
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct check_board *board = board_after(&ends[i]);

		expect(&ends[i], board_kind(board));
		free(board);
	}
}
