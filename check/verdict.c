#include "check/verdict.h"

#include <string.h>

#include "check/disagreement.h"
#include "check/left.h"
#include "check/missing_call.h"
#include "check/picture.h"
#include "check/refusal.h"

/* Whether the verdict turns on a rather than on b: on ranks that no failure led
 * astray, and on the smaller cohort. */
static bool is_odder(const struct check_cohort *a, const struct check_cohort *b)
{
	if (a->astray != b->astray)
		return b->astray;
	return a->size < b->size;
}

/* The rank that others turn on: of the smallest cohort that is stuck. */
static int odd_one(const struct check_picture *p, bool stuck)
{
	const struct check_cohort *best = NULL;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];
		bool counts = stuck ? check_is_caught(cohort)
				    : !cohort->waiting && cohort->may_move;

		if (counts && (!best || is_odder(cohort, best)))
			best = cohort;
	}
	return best ? (int)best->first : -1;
}

/* The rank that aborted a group on which another stands in a failed call; -1:
 * there is none. */
static int find_aborter(const struct check_picture *p)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++)
		for (uint32_t rank = 0; rank < p->world_size; rank++)
			if (p->cohorts[i].failed &&
			    check_has_aborted(p->board, rank,
					      p->cohorts[i].call))
				return (int)rank;
	return -1;
}

static struct check_verdict judge_waits(const struct check_picture *p,
					const struct check_facts *facts)
{
	bool any_failed = false, any_timeout = false, caught = false;
	int aborter = -1;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];

		any_failed |= cohort->failed;
		any_timeout |= cohort->timed_out;
		caught |= check_is_caught(cohort);
	}
	if (any_failed && (facts->nothing_moves || caught))
		aborter = find_aborter(p);
	if (aborter >= 0)
		return (struct check_verdict){CHECK_FAILED, aborter};
	if (facts->nothing_moves || (any_failed && caught))
		return (struct check_verdict){CHECK_DEADLOCK, odd_one(p, true)};
	if (any_timeout)
		return (struct check_verdict){CHECK_TIMEOUT, odd_one(p, false)};
	return (struct check_verdict){CHECK_FINE, -1};
}

static struct check_verdict judge_picture(const struct check_picture *p,
					  const struct check_facts *facts)
{
	struct check_disagreement found;
	uint32_t rank;

	if (check_disagree(p->board, &p->groups, &found))
		return (struct check_verdict){CHECK_MISMATCH,
					      found.pair && found.common >= 0
						      ? (int)found.common
						      : (int)found.rank_a};
	if (check_unequal_parts(p->board, &rank))
		return (struct check_verdict){CHECK_MISMATCH, (int)rank};
	if (facts->lost_rank >= 0 &&
	    check_is_awaited(p, (uint32_t)facts->lost_rank))
		return (struct check_verdict){CHECK_LOST, facts->lost_rank};
	return judge_waits(p, facts);
}

static struct check_verdict judge(const struct check_board *board,
				  const struct check_facts *facts)
{
	struct check_verdict verdict = {CHECK_FINE, -1};
	struct check_picture picture;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].hazard.kind)
			return (struct check_verdict){CHECK_HAZARD, (int)rank};
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state == CHECK_RANK_LOST)
			return (struct check_verdict){CHECK_LOST, (int)rank};
	if (!check_picture_init(&picture, board))
		return verdict;
	verdict = judge_picture(&picture, facts);
	check_picture_release(&picture);
	return verdict;
}

struct check_verdict check_judge_left(const struct check_board *board)
{
	struct check_left left;

	if (check_find_left(board, &left))
		return (struct check_verdict){CHECK_LEFT, (int)left.rank};
	return (struct check_verdict){CHECK_FINE, -1};
}

/* What a job that ended well, or dealt with verdict, leaves undone. */
static struct check_verdict judge_remains(const struct check_board *board,
					  const struct check_verdict *verdict)
{
	struct check_missing missing;
	int odd;

	if (check_find_missing(board, &missing)) {
		odd = (int)missing.odd.rank;
		check_missing_release(&missing);
		return (struct check_verdict){CHECK_MISMATCH, odd};
	}
	return verdict->kind == CHECK_FINE
		       ? check_judge_left(board)
		       : (struct check_verdict){CHECK_FINE, -1};
}

/* Verdict, or CHECK_MISMATCH if that nothing moves goes back to a call that a
 * rank never made, and that the others could have done without. */
static struct check_verdict refine(const struct check_board *board,
				   const struct check_verdict *verdict)
{
	struct check_picture picture;
	struct check_missing missing;
	struct check_verdict refined = *verdict;

	if (verdict->kind != CHECK_DEADLOCK ||
	    !check_picture_init(&picture, board))
		return refined;
	if (check_find_unmade(&picture, &missing)) {
		refined = (struct check_verdict){CHECK_MISMATCH,
						 (int)missing.odd.rank};
		check_missing_release(&missing);
	}
	check_picture_release(&picture);
	return refined;
}

/* Verdict, or CHECK_INVALID if it goes back to a refused call. */
static struct check_verdict trace_back(const struct check_board *board,
				       const struct check_facts *facts,
				       const struct check_verdict *verdict)
{
	int rank = check_blame(board, facts, verdict);

	return rank < 0 ? *verdict
			: (struct check_verdict){CHECK_INVALID, rank};
}

struct check_verdict check_judge(const struct check_board *board,
				 const struct check_facts *facts)
{
	struct check_verdict verdict = judge(board, facts);

	verdict = trace_back(board, facts, &verdict);
	return refine(board, &verdict);
}

struct check_verdict check_judge_end(const struct check_board *board,
				     const struct check_facts *facts)
{
	struct check_verdict verdict = judge(board, facts);

	if (!check_is_certain(&verdict))
		verdict = judge_remains(board, &verdict);
	return trace_back(board, facts, &verdict);
}

struct check_verdict check_hence(const struct check_board *board,
				 const struct check_facts *facts)
{
	struct check_verdict verdict = judge(board, facts);

	if (verdict.kind == CHECK_FINE && facts->lost_rank < 0)
		verdict = judge_remains(board, &verdict);
	return refine(board, &verdict);
}

struct check_verdict check_judge_interrupted(const struct check_board *board,
					     const struct check_facts *facts)
{
	struct check_verdict verdict = {CHECK_FINE, -1};

	if (board)
		verdict = check_judge(board, facts);
	return check_is_certain(&verdict)
		       ? verdict
		       : (struct check_verdict){CHECK_INTERRUPTED, -1};
}

uint32_t check_awaited(const struct check_board *board, uint32_t rank,
		       bool *awaited)
{
	const struct check_cohort *cohort;
	struct check_picture picture;
	uint32_t count = 0, next;

	memset(awaited, 0, board->world_size * sizeof *awaited);
	if (!check_picture_init(&picture, board))
		return 0;
	cohort = check_cohort_of(&picture, rank);
	next = check_next_awaited(&picture, cohort, 0);
	for (; next < board->world_size; count++) {
		awaited[next] = true;
		next = check_next_awaited(&picture, cohort, next + 1);
	}
	check_picture_release(&picture);
	return count;
}

/* ---- what a verdict is called ------------------------------------------- */

static const struct {
	const char *name;
	int exit_status;
	const char *rule; /* docs/verdicts.md */
} verdicts[] = {
	[CHECK_FINE] = {"fine", 0, NULL},
	[CHECK_MISMATCH] = {"mismatch", 10,
			    "Ranks disagree about an operation."},
	[CHECK_DEADLOCK] = {"deadlock", 11, "No rank can ever move."},
	[CHECK_TIMEOUT] = {"timeout", 12,
			   "A call took longer than it may, or a rank never "
			   "called again."},
	[CHECK_LOST] = {"lost", 13,
			"A rank died, or left while others wait for it."},
	[CHECK_HAZARD] = {"hazard", 14,
			  "Memory was touched while an operation held it."},
	[CHECK_RACE] = {"race", 15,
			"Which message a rank receives decides how the job "
			"ends."},
	[CHECK_BUFFERING] = {"buffering", 16,
			     "The job ends only where sends are buffered."},
	[CHECK_LEFT] = {"left", 17, "Something was left behind at the end."},
	[CHECK_RENDEZVOUS] = {"rendezvous", 18,
			      "The ranks did not find each other."},
	[CHECK_INVALID] = {"invalid", 19,
			   "A call was refused for its arguments, and the job "
			   "went wrong for that."},
	[CHECK_FAILED] = {"failed", 1, "A rank ended with a failure."},
	[CHECK_INTERRUPTED] = {"interrupted", 1, "A signal ended the job."},
	[CHECK_STATUS] = {"status", 0, NULL},
};

const char *check_verdict_name(enum check_verdict_kind kind)
{
	return verdicts[kind].name;
}

int check_exit_status(const struct check_verdict *verdict)
{
	return verdicts[verdict->kind].exit_status;
}

const char *check_verdict_rule(enum check_verdict_kind kind)
{
	return verdicts[kind].rule;
}
