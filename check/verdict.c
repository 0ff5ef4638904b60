#include "check/verdict.h"

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
		if (check_waits_for(p, &p->cohorts[i], (uint32_t)rank))
			return true;
	return false;
}

struct check_verdict check_judge(const struct check_board *board,
				 const struct check_facts *facts)
{
	struct check_verdict verdict = {CHECK_FINE, -1};
	struct check_disagreement found;
	struct check_picture picture;
	uint32_t rank;

	for (rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state == CHECK_RANK_LOST)
			return (struct check_verdict){CHECK_LOST, (int)rank};
	if (check_disagree(board, &found))
		return (struct check_verdict){CHECK_MISMATCH,
					      (int)found.rank_a};
	if (check_unequal_parts(board, &rank))
		return (struct check_verdict){CHECK_MISMATCH, (int)rank};
	if (!check_picture_init(&picture, board))
		return verdict;
	if (is_awaited(&picture, facts->lost_rank))
		verdict = (struct check_verdict){CHECK_LOST, facts->lost_rank};
	else
		verdict = judge_waits(&picture, facts);
	check_picture_release(&picture);
	return verdict;
}

int check_exit_status(const struct check_verdict *verdict)
{
	switch (verdict->kind) {
	case CHECK_FINE:
		return 0;
	case CHECK_MISMATCH:
		return 10;
	case CHECK_DEADLOCK:
		return 11;
	case CHECK_TIMEOUT:
		return 12;
	case CHECK_LOST:
		return 13;
	}
	return 3;
}
