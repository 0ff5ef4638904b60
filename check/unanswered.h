/*
 * unanswered.h - messages whose other end was never called, and what may have
 * been called instead. Private to check/.
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

/* The difference of two ends that would otherwise be one message. */
enum check_near { CHECK_NEAR_TAG, CHECK_NEAR_GROUP, CHECK_NEAR_RANK };

/* A send and a receive that are both unanswered and almost match. */
struct check_miss {
	struct check_end send, recv;
	enum check_near differs;
};

/* Ends of messages whose other end, as the records show, was never called: the
 * first ones, by rank and age. */
struct check_unanswered {
	struct check_end ends[128];
	uint32_t num;
};

void check_find_unanswered(const struct check_board *board,
			   struct check_unanswered *all);

/* check_find_miss finds among all unanswered ends a send and a receive of equal
 * length and type that differ only in the tag, else in the group, else in one
 * of the ranks, and one of which blocks its rank for ever. Those called to a
 * rank that has finished come first. The calls are NULL if there are
 * none. */
void check_find_miss(const struct check_picture *picture,
		     const struct check_unanswered *all,
		     struct check_miss *miss);

/* check_find_previous_call finds a rank that waits for ever in an unanswered
 * message, and its previous call with the same peer, tag and direction from
 * another line: one of both may be one too many. The call is NULL if there is
 * none. */
void check_find_previous_call(const struct check_picture *picture,
			      const struct check_unanswered *all,
			      struct check_end *previous);

/* check_report_unanswered adds sentences about miss and previous, if found, and
 * about the other messages in flight in which no rank waits; if peer >= 0, only
 * about those with that rank. */
void check_report_unanswered(struct check_lines *lines,
			     const struct check_picture *picture,
			     const struct check_unanswered *all,
			     const struct check_miss *miss,
			     const struct check_end *previous, int peer);

#endif
