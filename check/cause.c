#include "check/cause.h"

#include "check/meeting.h"

struct check_verdict check_judge_cause(const struct check_board *board,
				       const struct check_facts *facts,
				       const struct check_cause *cause)
{
	struct check_verdict verdict = {CHECK_FINE, -1};
	struct check_facts proved = *facts;

	if (board && cause->weight > 0 && cause->weight < 3 &&
	    check_failed_to_meet(board))
		return (struct check_verdict){CHECK_RENDEZVOUS, -1};
	if (cause->weight == 0)
		return board ? check_judge_end(board, facts) : verdict;
	proved.nothing_moves |= cause->weight == CHECK_CAUSE_PROVED;
	if (board)
		verdict = check_judge(board, &proved);
	if (verdict.kind == CHECK_FINE)
		verdict = (struct check_verdict){
			cause->weight == 3 ? CHECK_LOST : CHECK_FAILED,
			cause->rank};
	return verdict;
}
