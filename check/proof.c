#include "check/proof.h"

#include "check/dependence.h"
#include "check/disagreement.h"
#include "check/message.h"
#include "check/picture.h"

/* Whether the call, which some have not issued that it waits for, cannot end
 * before they do. Where ranks agree before, that is so of any (but of a call on
 * several tensors, which may go by messages). */
static bool needs_others(const struct check_board *board, uint32_t rank,
			 const struct check_call *call, bool agreed)
{
	if (agreed && !call->terms_text[0] &&
	    (check_is_send(call) ||
	     check_dependence(call) != CHECK_NEEDS_NOBODY))
		return true;
	return check_needs_others(board, rank, call);
}

/* Whether rank waits by the deadline that its rpc has for all calls: where the
 * program chose one, it may have plans for when it passes. */
static bool is_caught_remotely(const struct check_picture *p, uint32_t rank,
			       const struct check_call *call)
{
	const struct check_cohort *cohort = check_cohort_of(p, rank);

	return call->state == CHECK_CALL_ISSUED && cohort->wait &&
	       !cohort->wait->gives_up && !cohort->may_move;
}

static bool is_caught(const struct check_picture *p, uint32_t rank,
		      const struct check_rules *rules)
{
	const struct check_slot *slot = &p->board->slots[rank];
	const struct check_call *call = check_call_find(slot, slot->waiting);

	if (call && call->tag == CHECK_TAG_RPC)
		return is_caught_remotely(p, rank, call);
	if (slot->state != CHECK_RANK_WAITING || !call ||
	    call->state != CHECK_CALL_ISSUED ||
	    check_gives_up(call, rules->timeout_ns) ||
	    check_cohort_of(p, rank)->may_move)
		return false;
	return call->tag == CHECK_TAG_STORE
		       ? rules->alone && call->numel == p->world_size
		       : needs_others(p->board, rank, call, rules->agreed);
}

static bool nothing_moves(const struct check_picture *p,
			  const struct check_rules *rules)
{
	uint32_t caught = 0;

	for (uint32_t i = 0; i < p->num_lanes; i++)
		if (p->lanes[i].may_move || p->lanes[i].wait->gives_up)
			return false;
	for (uint32_t rank = 0; rank < p->world_size; rank++) {
		if (p->board->slots[rank].state == CHECK_RANK_FINISHED)
			continue;
		if (!is_caught(p, rank, rules))
			return false;
		caught++;
	}
	return caught > 0;
}

/* That nothing moves is the proof, even if that goes back to a missing call. */
static struct check_verdict judge_standstill(const struct check_board *board)
{
	const struct check_facts facts = {.lost_rank = -1, .nothing_moves = 1};
	struct check_verdict verdict = check_judge(board, &facts);
	uint32_t rank;

	if (verdict.kind == CHECK_MISMATCH &&
	    !check_unequal_parts(board, &rank))
		verdict.kind = CHECK_DEADLOCK;
	return verdict;
}

struct check_verdict check_prove(const struct check_board *board,
				 const struct check_rules *rules)
{
	struct check_verdict verdict = {CHECK_FINE, -1};
	struct check_disagreement found;
	struct check_picture picture;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state == CHECK_RANK_LOST)
			return verdict;
	if (!check_picture_init(&picture, board))
		return verdict;
	if (check_disagree(board, &picture.groups, &found)) {
		if (found.a->tag < 0 ||
		    (found.a->index != CHECK_INDEX_UNKNOWN &&
		     found.b->index != CHECK_INDEX_UNKNOWN))
			verdict = (struct check_verdict){CHECK_MISMATCH,
							 (int)found.rank_a};
	} else if (nothing_moves(&picture, rules)) {
		verdict = judge_standstill(board);
	}
	check_picture_release(&picture);
	return verdict;
}
