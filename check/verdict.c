#include "check/verdict.h"

#include <string.h>

#include "check/disagreement.h"
#include "check/left.h"
#include "check/picture.h"

/* The rank that others turn on: of the smallest cohort that is stuck. */
static int odd_one(const struct check_picture *p, bool stuck)
{
	const struct check_cohort *best = NULL;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];
		bool counts = stuck ? cohort->waiting && !cohort->may_move
				    : !cohort->waiting && cohort->may_move;

		if (counts && (!best || cohort->size < best->size))
			best = cohort;
	}
	return best ? (int)best->first : -1;
}

static struct check_verdict judge_waits(const struct check_picture *p,
					const struct check_facts *facts)
{
	bool any_failed = false, any_timeout = false, caught = false;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];

		any_failed |= cohort->failed;
		any_timeout |= cohort->timed_out;
		caught |= cohort->waiting && !cohort->may_move;
	}
	if (facts->nothing_moves || (any_failed && caught))
		return (struct check_verdict){CHECK_DEADLOCK, odd_one(p, true)};
	if (any_timeout)
		return (struct check_verdict){CHECK_TIMEOUT, odd_one(p, false)};
	return (struct check_verdict){CHECK_FINE, -1};
}

static bool is_awaited(const struct check_picture *p, int rank)
{
	if (rank < 0)
		return false;
	for (uint32_t i = 0; i < p->num_cohorts; i++)
		if (check_next_awaited(p, &p->cohorts[i], (uint32_t)rank) ==
		    (uint32_t)rank)
			return true;
	return false;
}

static struct check_verdict judge_picture(const struct check_picture *p,
					  const struct check_facts *facts)
{
	struct check_disagreement found;
	uint32_t rank;

	if (check_disagree(p->board, &p->groups, &found))
		return (struct check_verdict){CHECK_MISMATCH,
					      (int)found.rank_a};
	if (check_unequal_parts(p->board, &rank))
		return (struct check_verdict){CHECK_MISMATCH, (int)rank};
	if (is_awaited(p, facts->lost_rank))
		return (struct check_verdict){CHECK_LOST, facts->lost_rank};
	return judge_waits(p, facts);
}

struct check_verdict check_judge(const struct check_board *board,
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

struct check_verdict check_judge_end(const struct check_board *board,
				     const struct check_facts *facts)
{
	struct check_verdict verdict = check_judge(board, facts);
	struct check_left left;

	if (check_is_certain(&verdict))
		return verdict;
	if (verdict.kind == CHECK_FINE && check_find_left(board, &left))
		return (struct check_verdict){CHECK_LEFT, (int)left.rank};
	return (struct check_verdict){CHECK_FINE, -1};
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
	cohort = &picture.cohorts[picture.cohort_of[rank]];
	next = check_next_awaited(&picture, cohort, 0);
	for (; next < board->world_size; count++) {
		awaited[next] = true;
		next = check_next_awaited(&picture, cohort, next + 1);
	}
	check_picture_release(&picture);
	return count;
}

/* ---- what a verdict is called ------------------------------------------- */

static const struct verdict_word {
	const char *name;
	int exit_status;
} words[] = {
	[CHECK_FINE] = {"fine", 0},
	[CHECK_MISMATCH] = {"mismatch", 10},
	[CHECK_DEADLOCK] = {"deadlock", 11},
	[CHECK_TIMEOUT] = {"timeout", 12},
	[CHECK_LOST] = {"lost", 13},
	[CHECK_HAZARD] = {"hazard", 14},
	[CHECK_RACE] = {"race", 15},
	[CHECK_BUFFERING] = {"buffering", 16},
	[CHECK_LEFT] = {"left", 17},
	[CHECK_RENDEZVOUS] = {"rendezvous", 18},
	[CHECK_FAILED] = {"failed", 1},
	[CHECK_STATUS] = {"status", 0},
};

const char *check_verdict_name(enum check_verdict_kind kind)
{
	return words[kind].name;
}

int check_exit_status(const struct check_verdict *verdict)
{
	return words[verdict->kind].exit_status;
}
