/*
 * taken.h - receives from any source that probably took the wrong message: a
 * rank is stuck, or a call does not match, and another message was available.
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
	struct check_end other; /* and another message that it might have taken;
				 * NULL call: one that may yet be sent */
};

/* check_find_taken finds, where ranks are stuck, a receive from any source that
 * took the message that its rank now awaits from a certain rank; else the last
 * such receive of a rank that is stuck or that stuck ranks wait for. any.call
 * is NULL if there is none, or if there was no other message and no rank that
 * may yet send one. */
void check_find_taken(const struct check_picture *picture,
		      const struct check_unanswered *all,
		      const struct check_miss *miss, struct check_taken *taken);

/* check_find_misled finds the last such receive of one of the two ranks that
 * disagree, at or before the call in question. */
void check_find_misled(const struct check_board *board,
		       const struct check_disagreement *found,
		       struct check_taken *taken);

/* check_report_taken adds sentences about it, none if any.call is NULL, and,
 * unless explored, the command to run. */
void check_report_taken(struct check_lines *lines,
			const struct check_taken *taken, bool explored);

#endif
