/*
 * unanswered.h - messages of which the other end was never called, and what may
 * have been called in its place. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_UNANSWERED_H
#define LOCKSTEP_CHECK_UNANSWERED_H

#include "check/picture.h"
#include "check/text.h"

/* One end of a message. */
struct check_end {
	const struct check_call *call;
	uint32_t rank;
};

/* In what two ends differ that would be one message otherwise. */
enum check_near { CHECK_NEAR_TAG, CHECK_NEAR_GROUP, CHECK_NEAR_RANK };

/* A send and a receive that both are unanswered and almost meet. */
struct check_miss {
	struct check_end send, recv;
	enum check_near differs;
};

/* Messages that ranks sent or await, and of which the records show that nobody
 * called the other end: the first of them, by rank and age. */
struct check_unanswered {
	struct check_end ends[128];
	uint32_t num;
};

void check_find_unanswered(const struct check_board *board,
			   struct check_unanswered *all);

/* check_find_miss finds among all unanswered ends a send and a receive of one
 * length and type that differ in the tag alone, else in the group, else in one
 * of the ranks, and of which one keeps its rank for ever; of several first
 * those that are called to a rank that has finished. The calls are NULL if
 * there are none. */
void check_find_miss(const struct check_picture *picture,
		     const struct check_unanswered *all,
		     struct check_miss *miss);

/* check_find_previous_call finds a rank that waits for ever in an unanswered
 * message, and its last call before of the same peer, tag and direction from
 * another line: one of them may be one too many. The call is NULL if there is
 * none. */
void check_find_previous_call(const struct check_picture *picture,
			      const struct check_unanswered *all,
			      struct check_end *previous);

/* check_report_unanswered adds sentences on miss and previous, if there are
 * such, and on the other messages in flight in which no rank waits; with peer 0
 * or more, on those with that rank. */
void check_report_unanswered(struct check_lines *lines,
			     const struct check_picture *picture,
			     const struct check_unanswered *all,
			     const struct check_miss *miss,
			     const struct check_end *previous, int peer);

#endif
