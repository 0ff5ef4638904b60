#include "check/cause.h"

#include "check/groups.h"
#include "check/rendezvous_failure.h"
#include "lockstep/types.h"

/* Whether a call of rank failed for want of memory: then that is the cause of
 * whatever does not move any more. */
static bool is_out_of_memory(const struct check_board *board, int32_t rank)
{
	const struct check_call *call =
		rank >= 0 && (uint32_t)rank < board->world_size
			? check_failed_call(&board->slots[rank])
			: NULL;

	return call && call->error == DIST_ERR_NO_MEMORY;
}

struct check_verdict check_judge_failed(const struct check_board *board,
					int32_t rank)
{
	const struct check_call *call = NULL;

	if (board && rank >= 0 && (uint32_t)rank < board->world_size)
		call = check_failed_call(&board->slots[rank]);
	for (uint32_t i = 0; call && i < board->world_size; i++)
		if (check_has_aborted(board, i, call))
			return (struct check_verdict){CHECK_FAILED, (int)i};
	return (struct check_verdict){CHECK_FAILED, rank};
}

int64_t check_endless(const struct check_cause *cause, int64_t timeout_ns)
{
	return cause->weight == CHECK_CAUSE_STOPPED ? timeout_ns : 0;
}

struct check_verdict check_judge_cause(const struct check_board *board,
				       const struct check_facts *facts,
				       const struct check_cause *cause)
{
	struct check_verdict verdict = {CHECK_FINE, -1};

	if (board && cause->weight > 0 && cause->weight < 3 &&
	    check_failed_to_meet(board))
		return (struct check_verdict){CHECK_RENDEZVOUS, -1};
	if (board && cause->weight == 2 && is_out_of_memory(board, cause->rank))
		return (struct check_verdict){CHECK_FAILED, cause->rank};
	if (cause->weight == 0)
		return board ? check_judge_end(board, facts) : verdict;
	if (board)
		verdict = check_judge(board, facts);
	if (cause->weight == CHECK_CAUSE_STOPPED && !check_is_certain(&verdict))
		verdict = (struct check_verdict){CHECK_TIMEOUT, cause->rank};
	if (verdict.kind == CHECK_FINE && board && cause->weight == 1)
		verdict = check_judge_left(board);
	if (verdict.kind == CHECK_FINE)
		verdict = cause->weight == 3
				  ? (struct check_verdict){CHECK_LOST,
							   cause->rank}
				  : check_judge_failed(board, cause->rank);
	return verdict;
}
