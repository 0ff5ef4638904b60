/* watch_report.c - the verdict on a simulation that did not come to its end. */
#include "sim/watch_report.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "check/cause.h"
#include "check/death.h"
#include "check/outputs.h"
#include "check/watch/source.h"
#include "lockstep/dist.h"

/* Finds the line; the process is there yet. */
static void find_place(const struct dist__sim_watch *watch,
		       struct check_place *place)
{
	struct dist__source source;

	if (watch->spot == DIST__SIM_NOWHERE || watch->frames[0] == 0)
		return;
	source = dist__source_of(watch->process, watch->frames,
				 DIST__SIM_FRAMES);
	if (source.file[0])
		check_site_set(&place->site, source.file, source.line);
	snprintf(place->function, sizeof place->function, "%s",
		 source.function);
}

void dist__sim_watch_describe(const struct dist__sim_watch *watch, int number,
			      char *text, size_t size)
{
	if (watch->overflow)
		snprintf(text, size, "overflowed its stack (signal %d)",
			 number);
	else
		check_describe_death(text, size, number, watch->process,
				     watch->kills);
}

static int conclude(const struct dist__sim_watch *watch,
		    const struct check_board *board,
		    const struct check_facts *facts,
		    const struct check_verdict *verdict)
{
	struct check_count why[DIST__BY_NUM + 1];
	const struct check_simulated simulated =
		dist__tally_report(&watch->tally, why);
	const struct check_job job = {.board = board,
				      .facts = facts,
				      .verdict = verdict,
				      .world = "sim",
				      .replay = watch->token[0] ? watch->token
								: NULL,
				      .simulated = &simulated};

	fflush(stdout);
	return check_conclude(stderr, &job, NULL);
}

/* The fault is none of the program's, but that of who sent the signal, or ours:
 * nothing of a rank's was at work. */
static int report_engine(const struct dist__sim_watch *watch,
			 const struct check_board *board,
			 const struct check_cause *cause)
{
	struct check_facts facts = {.now_ns = watch->now_ns,
				    .timeout_ns = watch->timeout_ns,
				    .lost_rank = -1,
				    .defect = true};
	const struct check_verdict verdict = {CHECK_FAILED, -1};

	if (watch->sender) {
		dist__sim_watch_report_interrupted(watch, board, watch->number);
		return 128 + watch->number;
	}
	memcpy(facts.lost_how, cause->how, sizeof facts.lost_how);
	(void)conclude(watch, board, &facts, &verdict);
	return DIST_EXIT_INTERNAL;
}

static bool have_finished(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state != CHECK_RANK_FINISHED)
			return false;
	return true;
}

/* A rank has ended the process of all by _exit(): it has finished, as a rank
 * that is a process of its own would have. The others get no further: those
 * that had yet to begin are not gone. */
static struct check_verdict judge_exit(struct check_board *board,
				       struct check_facts *facts,
				       const struct check_cause *cause)
{
	struct check_verdict verdict;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state == CHECK_RANK_ABSENT)
			board->slots[rank].state = CHECK_RANK_RUNNING;
	board->slots[cause->rank].state = CHECK_RANK_FINISHED;
	if (cause->weight > 0)
		return check_judge_cause(board, facts, cause);
	facts->lost_rank = -1;
	if (have_finished(board))
		return check_judge_end(board, facts);
	facts->nothing_moves = 1;
	verdict = check_judge(board, facts);
	if (verdict.kind != CHECK_DEADLOCK || verdict.rank >= 0)
		return verdict;
	/* Nobody waits for it: the others might have gone on. */
	facts->advice = "simulated ranks share one process: a rank that ends "
			"returns, or calls exit(), not _exit()";
	facts->lost_rank = cause->rank;
	return (struct check_verdict){CHECK_LOST, cause->rank};
}

int dist__sim_watch_report(const struct dist__sim_watch *watch,
			   struct check_board *board,
			   const struct check_cause *cause, int64_t endless_ns)
{
	struct check_facts facts = {.now_ns = watch->now_ns,
				    .timeout_ns = watch->timeout_ns,
				    .lost_rank = cause->rank,
				    .endless_ns = endless_ns};
	struct check_verdict verdict = {CHECK_TIMEOUT, cause->rank};
	struct check_cause killed = *cause;
	bool exits = false;
	char advice[160];

	if (cause->rank < 0 || watch->sender)
		return report_engine(watch, board, cause);
	if (board && (uint32_t)cause->rank >= board->world_size)
		board = NULL;
	memcpy(facts.lost_how, cause->how, sizeof facts.lost_how);
	find_place(watch, &facts.lost_at);
	if (watch->overflow) {
		snprintf(advice, sizeof advice,
			 "a rank's stack has %.6g MiB: give --stack-size (or "
			 "LOCKSTEP_STACK_SIZE) more, or keep large arrays "
			 "elsewhere",
			 (double)watch->stack_bytes / (1 << 20));
		facts.advice = advice;
	}
	if (board) {
		exits = cause->weight < 3 &&
			!check_rpc_runs(&board->slots[cause->rank]);
		board->slots[cause->rank].state =
			endless_ns ? CHECK_RANK_RUNNING : CHECK_RANK_LOST;
	}
	killed.weight = 3;
	if (exits)
		verdict = judge_exit(board, &facts, cause);
	else if (!endless_ns)
		verdict = check_judge_cause(board, &facts, &killed);
	return conclude(watch, board, &facts, &verdict);
}

int dist__sim_watch_report_late(const struct dist__sim_watch *watch,
				const struct check_board *board, int status)
{
	struct check_facts facts = {.now_ns = watch->now_ns,
				    .timeout_ns = watch->timeout_ns,
				    .lost_rank = -1};
	const struct check_verdict verdict = {CHECK_FAILED, -1};

	if (WIFSIGNALED(status))
		dist__sim_watch_describe(watch, WTERMSIG(status),
					 facts.lost_how, sizeof facts.lost_how);
	else
		snprintf(facts.lost_how, sizeof facts.lost_how,
			 "ended with status %d", WEXITSTATUS(status));
	return conclude(watch, board, &facts, &verdict);
}

void dist__sim_watch_report_interrupted(const struct dist__sim_watch *watch,
					const struct check_board *board,
					int number)
{
	const struct check_facts facts = {.now_ns = watch->now_ns,
					  .timeout_ns = watch->timeout_ns,
					  .lost_rank = -1,
					  .signal = number};
	const struct check_verdict verdict =
		check_judge_interrupted(board, &facts);

	(void)conclude(watch, board, &facts, &verdict);
}
