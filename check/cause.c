#include "check/cause.h"

/* The same number as DIST_ERR_RENDEZVOUS: check/ does not include dist.h. */
enum { ERROR_RENDEZVOUS = -10 };

/* Whether a rank says so, which may call itself by another's number. */
static bool failed_to_meet(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_call *call =
			check_failed_call(&board->slots[rank]);

		if (call && call->error == ERROR_RENDEZVOUS)
			return true;
	}
	return false;
}

struct check_verdict check_judge_cause(const struct check_board *board,
				       const struct check_facts *facts,
				       const struct check_cause *cause)
{
	struct check_verdict verdict = {CHECK_FINE, -1};

	if (board && cause->weight > 0 && cause->weight < 3 &&
	    failed_to_meet(board))
		return (struct check_verdict){CHECK_RENDEZVOUS, -1};
	if (cause->weight == 0)
		return board ? check_judge_end(board, facts) : verdict;
	if (board)
		verdict = check_judge(board, facts);
	if (verdict.kind == CHECK_FINE)
		verdict = (struct check_verdict){
			cause->weight == 3 ? CHECK_LOST : CHECK_FAILED,
			cause->rank};
	return verdict;
}
