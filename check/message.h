/*
 * message.h - finds the two calls of one message in the records. Private to
 * check/.
 */
#ifndef LOCKSTEP_CHECK_MESSAGE_H
#define LOCKSTEP_CHECK_MESSAGE_H

#include "check/groups.h"

/* check_from_any returns whether call receives from any source. */
bool check_from_any(const struct check_call *call);

/* check_is_from_one returns whether any one of several ranks can end call: a
 * receive from any source, or a wait for a key. */
bool check_is_from_one(const struct check_call *call);

/* check_other_end returns the global rank of the other end of call, a message;
 * -1: from any source, and nothing was received yet. */
int32_t check_other_end(const struct check_call *call);

/* check_is_counterpart returns whether b can be the other end of a message with
 * the group, tag and ranks of a, a call of rank. A receive from any source can
 * if it has received from no other rank. */
bool check_is_counterpart(const struct check_call *a, uint32_t rank,
			  const struct check_call *b);

/*
 * check_is_answered returns whether the message in which rank waits may be in
 * flight: its other end was called (by a member of group if it is from any
 * source), or the records do not rule it out.
 */
bool check_is_answered(const struct check_board *board,
		       const struct check_group *group, uint32_t rank);

#endif
