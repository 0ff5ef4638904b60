/* What the records of a job prove while it runs, and what once a call failed:
 * tables of ranks and where they stand. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "check/proof.h"
#include "tests/support/board.h"

#define SECOND ((int64_t)1000000000)

struct proof_case {
	const char *what;
	uint32_t world_size;
	const char *steps; /* as of board_play; calls may take a minute */
	enum check_verdict_kind proved;
};

static const struct proof_case cases[] = {
	{"two collectives in the other order", 3,
	 "0 waits all_reduce; 1 waits broadcast 0; 2 waits all_reduce",
	 CHECK_MISMATCH},
	{"the same while another rank computes", 3,
	 "0 waits all_reduce; 1 waits broadcast 0", CHECK_MISMATCH},
	{"everybody is in the same collective, however long it takes", 2,
	 "0 waits all_reduce; 1 waits all_reduce", CHECK_FINE},
	{"two receives", 2, "0 waits recv 1 0; 1 waits recv 0 0",
	 CHECK_DEADLOCK},
	{"two receives while a third rank computes", 3,
	 "0 waits recv 1 0; 1 waits recv 0 0", CHECK_FINE},
	{"two receives while a third rank is not known", 3,
	 "0 waits recv 1 0; 1 waits recv 0 0; 2 unknown", CHECK_FINE},
	{"two receives, and a third rank is gone", 3,
	 "0 waits recv 1 0; 1 waits recv 0 0; 2 finished", CHECK_DEADLOCK},
	{"two receives, and a third rank was killed", 3,
	 "0 waits recv 1 0; 1 waits recv 0 0; 2 lost", CHECK_FINE},
	{"two receives, one by a deadline of its own", 2,
	 "0 waits recv 1 0; 1 waits recv 0 0 20s", CHECK_FINE},
	{"two receives, one by a later deadline", 2,
	 "0 waits recv 1 0; 1 waits recv 0 0 600s", CHECK_DEADLOCK},
	{"two receives, one that failed and may be dealt with", 2,
	 "0 waits recv 1 0; 1 failed recv 0 0", CHECK_FINE},
	{"a receive of what has been sent", 2,
	 "1 issued send 0 0; 0 waits recv 1 0; 1 waits recv 0 0", CHECK_FINE},
	{"two sends whose bytes are on their way", 2,
	 "0 waits send 1 0; 1 waits send 0 0", CHECK_FINE},
	{"a message of another size", 2, "0 done send 1 0 x8; 1 waits recv 0 0",
	 CHECK_MISMATCH},
	{"a message of another size that may not be meant", 2,
	 "0 done send 1 0 x8; 1 done recv -1 0 x8; 1 waits recv 0 0; 0 waits "
	 "recv 1 1",
	 CHECK_FINE},
	{"a barrier for who is gone", 3,
	 "0 waits barrier; 1 waits barrier; 2 finished", CHECK_DEADLOCK},
	{"a root that waits for another, and who waits for the root", 3,
	 "0 waits recv 1 0; 1 waits broadcast 0; 2 waits broadcast 0",
	 CHECK_DEADLOCK},
	{"a root that may still hand its bytes out", 2,
	 "0 waits broadcast 0; 1 waits recv 0 0", CHECK_FINE},
	{"who may still hand on the root's bytes", 3,
	 "0 done broadcast 0; 1 waits broadcast 0; 2 waits recv 1 0; 0 waits "
	 "barrier",
	 CHECK_FINE},
	{"who only gives to a root", 2, "0 waits recv 1 0; 1 waits reduce 0",
	 CHECK_FINE},
	{"a root that waits for what it is given", 2,
	 "0 waits reduce 0; 1 waits recv 0 0", CHECK_DEADLOCK},
	{"a call of which nobody knows what ends it", 2,
	 "0 waits unheard_of; 1 waits recv 0 0", CHECK_FINE},
	{"a group that the other does not come to make", 2,
	 "0 waits new_group; 1 waits recv 0 0", CHECK_DEADLOCK},
	{"nobody waits", 2, "0 done barrier; 1 done barrier", CHECK_FINE},
};

static const struct proof_case ends[] = {
	{"both ends of a message", 2, "0 failed send 1 0; 1 failed recv 0 0",
	 CHECK_TIMEOUT},
	{"both, and the receive is from any source", 2,
	 "0 failed send 1 0; 1 failed recv -1 0", CHECK_TIMEOUT},
	{"a receive, and the late send finds nobody", 2,
	 "1 failed recv 0 0; 0 gone send 1 0", CHECK_TIMEOUT},
	{"a call under way, and the one that stood behind it", 2,
	 "0 late all_reduce; 0 given_up barrier; 1 waits all_reduce",
	 CHECK_TIMEOUT},
	{"a receive, and who was late finds another gone", 3,
	 "1 failed recv 0 0; 0 gone recv 2 0", CHECK_TIMEOUT},
	{"a receive, and who was late only looked at another", 2,
	 "1 failed recv 0 0; 0 looked recv 1 0", CHECK_TIMEOUT},
	{"ranks that only looked at what one that ended did not call", 3,
	 "0 looked all_reduce; 1 looked all_reduce; 2 finished",
	 CHECK_DEADLOCK},
	{"a receive, and the rank went on to another", 2,
	 "1 failed recv 0 0; 1 waits recv 0 1; 0 failed recv 1 0",
	 CHECK_TIMEOUT},
	{"a receive, and the rank went on to another that failed", 2,
	 "1 failed recv 0 0; 1 failed recv 0 1; 0 waits recv 1 0",
	 CHECK_TIMEOUT},
	{"two receives", 2, "0 failed recv 1 0; 1 failed recv 0 0",
	 CHECK_DEADLOCK},
	{"one of two receives", 2, "0 failed recv 1 0; 1 waits recv 0 0",
	 CHECK_DEADLOCK},
	{"both ends of two messages of other tags", 2,
	 "0 failed send 1 0; 1 failed recv 0 1", CHECK_DEADLOCK},
	{"a receive of the second message where one was sent", 2,
	 "0 done send 1 0; 1 done recv 0 0; 1 failed recv 0 0; 0 failed recv 1 "
	 "0",
	 CHECK_DEADLOCK},
	{"a barrier for who is gone", 2, "0 failed barrier; 1 finished",
	 CHECK_DEADLOCK},
};

static struct check_board *board_after(const struct proof_case *c)
{
	struct check_board *board = board_played(c->world_size, c->steps);
	struct check_call *call;

	for (uint32_t rank = 0; rank < c->world_size; rank++) {
		call = board->slots[rank].ring;
		for (uint32_t i = 0; i < board->slots[rank].calls; i++, call++)
			if (call->timeout_ns == 0)
				call->timeout_ns = 60 * SECOND;
	}
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
	{"a gather without one that is gone", 3,
	 "0 waits gather 0; 1 waits gather 0; 2 finished", CHECK_DEADLOCK},
	{"a broadcast without one that is gone", 3,
	 "0 waits broadcast 0; 1 waits broadcast 0; 2 finished",
	 CHECK_DEADLOCK},
	{"a broadcast without one that computes", 3,
	 "0 waits broadcast 0; 1 waits broadcast 0", CHECK_FINE},
	{"two sends to each other", 2, "0 waits send 1 0; 1 waits send 0 0",
	 CHECK_DEADLOCK},
	{"a gather in which all are", 2, "0 waits gather 0; 1 waits gather 0",
	 CHECK_FINE}};

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
	{"a broadcast without one that is gone", 4,
	 "0 failed broadcast 0; 1 done broadcast 0; 2 done broadcast 0; 3 "
	 "finished",
	 CHECK_MISMATCH},
	{"a sum after that broadcast", 4,
	 "0 done broadcast 0; 1 done broadcast 0; 2 done broadcast 0; 0 waits "
	 "all_reduce; 1 failed all_reduce; 3 finished",
	 CHECK_MISMATCH},
	{"a reduce without its root", 3,
	 "0 failed reduce 2; 1 failed reduce 2; 2 finished", CHECK_MISMATCH},
	{"a gather without its root, while others wait for it elsewhere", 4,
	 "0 failed gather 3; 1 waits recv 3 0; 2 waits recv 3 0; 3 finished",
	 CHECK_DEADLOCK},
	{"a reduce without one that its root needs", 3,
	 "0 failed reduce 0; 1 done reduce 0; 2 finished", CHECK_DEADLOCK},
	{"a sum, and then a broadcast, without one that is gone", 3,
	 "0 failed all_reduce; 1 failed all_reduce; 2 finished",
	 CHECK_DEADLOCK}};

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
