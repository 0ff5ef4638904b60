/*
 * taken.h - receives from any source that seem to have taken the wrong message:
 * a rank is stuck, or a call does not fit, and another message was at hand.
 * Private to check/.
 */
#ifndef LOCKSTEP_CHECK_TAKEN_H
#define LOCKSTEP_CHECK_TAKEN_H

#include "check/disagreement.h"
#include "check/picture.h"
#include "check/unanswered.h"

struct check_taken {
	struct check_end any;   /* the receive from any source, */
	uint32_t sender;        /* whose message it took, */
	struct check_end other; /* and another that it might have taken; no
				 * call: one that may yet be sent */
};

/* check_find_taken finds, on a board of which ranks are stuck, a receive from
 * any source that took the message that its rank awaits now of a certain one;
 * else the last one of a rank that is stuck, or that stuck ones wait for. Its
 * call is NULL if there is none, or nothing else that it might have taken; of
 * the former, nor any rank that may yet send that. */
void check_find_taken(const struct check_picture *picture,
		      const struct check_unanswered *all,
		      const struct check_miss *miss, struct check_taken *taken);

/* check_find_misled finds the last such receive of one of the two ranks that
 * disagree, at or before its call. */
void check_find_misled(const struct check_board *board,
		       const struct check_disagreement *found,
		       struct check_taken *taken);

/* check_report_taken adds sentences on that, if there is one, and, unless it
 * was done, what to run. */
void check_report_taken(struct check_lines *lines,
			const struct check_taken *taken, bool explored);

#endif
