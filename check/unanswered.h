/*
 * unanswered.h - messages of which the other end was never called, and what may
 * have been called in its place. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_UNANSWERED_H
#define LOCKSTEP_CHECK_UNANSWERED_H

#include "check/picture.h"

/* One end of a message. */
struct check_end {
	const struct check_call *call;
	uint32_t rank;
};

/* What tells two ends apart that would be one message otherwise. */
enum check_near { CHECK_NEAR_TAG, CHECK_NEAR_GROUP, CHECK_NEAR_RANK };

/* A send and a receive that both are unanswered and almost meet. */
struct check_miss {
	struct check_end send, recv;
	enum check_near differs;
};

/* check_unanswered stores up to `most` ends in ends, by rank and age, and
 * returns how many there are: messages that ranks of the board sent or await,
 * and of which the records show that nobody called the other end. */
uint32_t check_unanswered(const struct check_board *board,
			  struct check_end *ends, uint32_t most);

/* check_find_miss finds a send and a receive of one length and type that differ
 * in the tag alone, else in the group, else in one of the ranks, and of which
 * one keeps its rank for ever; of several first those that are called to a rank
 * that has finished. False: there are none. */
bool check_find_miss(const struct check_picture *picture,
		     struct check_miss *miss);

/* check_find_twin finds a rank that waits for ever in an unanswered message,
 * and its last call before of the same peer, tag and direction from another
 * line: one of them may be one too many. False: there is none. */
bool check_find_twin(const struct check_picture *picture,
		     struct check_end *twin);

/* check_report_unanswered writes that miss, that twin, and messages in flight
 * in which no rank waits; with peer 0 or more only the latter with that rank.
 */
void check_report_unanswered(FILE *out, const struct check_picture *picture,
			     int peer);

#endif
