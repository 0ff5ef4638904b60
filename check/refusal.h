/*
 * refusal.h - calls that were refused for their arguments, and what followed.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_REFUSAL_H
#define LOCKSTEP_CHECK_REFUSAL_H

#include "check/picture.h"
#include "check/text.h"
#include "check/verdict.h"

/* check_next_refusal returns the rank's first refusal, from number *i on, that
 * it did not correct at once by the same call from another line, and sets *i to
 * the number after it; NULL: there is none. */
const struct check_refusal *check_next_refusal(const struct check_slot *slot,
					       uint32_t *i);

/* check_blame returns the rank whose refused call led to verdict, which
 * check_judge() returns without it: the rank ended badly right afterwards; or
 * others wait for that call, or met the rank's next call instead. A call that
 * was refused to all ranks of a group does not count. -1: there is none. */
int check_blame(const struct check_board *board,
		const struct check_facts *facts,
		const struct check_verdict *verdict);

/* check_print_refusal writes "ranks 1,3 (2) called send at train.c:20, which
 * was refused", and returns the number of these ranks. */
uint32_t check_print_refusal(FILE *out, const struct check_board *board,
			     const struct check_refusal *refusal);

/* check_report_refusals adds all refusals by source line, with the ranks and
 * the reasons. */
void check_report_refusals(struct check_lines *lines,
			   const struct check_board *board);

/* check_warn_of_refusals adds the same for a job that ended well, one sentence
 * a source line; a feature that the world does not have is no fault. */
void check_warn_of_refusals(struct check_lines *lines,
			    const struct check_board *board);

#endif
