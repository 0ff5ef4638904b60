/*
 * refusal.h - calls that were refused for their arguments, what came of them,
 * and the same in sentences. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_REFUSAL_H
#define LOCKSTEP_CHECK_REFUSAL_H

#include "check/picture.h"
#include "check/text.h"
#include "check/verdict.h"

/* check_next_refusal returns the rank's first refusal from number *i on that
 * it did not make up for, by the same call at once from another line, and sets
 * *i to the number after it; NULL: there is none. */
const struct check_refusal *check_next_refusal(const struct check_slot *slot,
					       uint32_t *i);

/* check_blame returns the rank whose refused call led to verdict, the one that
 * check_judge() gives without it: the rank ended badly right after; or others
 * wait in vain for that call, or met the rank's next one in its place. But what
 * was refused to all ranks of a group leaves them even. -1: there is none. */
int check_blame(const struct check_board *board,
		const struct check_facts *facts,
		const struct check_verdict *verdict);

/* check_report_refusals adds all of them, by line of the source, with the ranks
 * and why each was refused. */
void check_report_refusals(struct check_lines *lines,
			   const struct check_board *board);

/* check_warn_of_refusals adds the same of a job that ended well, a sentence for
 * each line of the source; what this world does not have is no fault. */
void check_warn_of_refusals(struct check_lines *lines,
			    const struct check_board *board);

#endif
