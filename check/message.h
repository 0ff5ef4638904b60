/*
 * message.h - which two calls are the ends of one message, as far as the
 * records go. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_MESSAGE_H
#define LOCKSTEP_CHECK_MESSAGE_H

#include "check/groups.h"

/* check_from_any returns whether call receives from any source. */
bool check_from_any(const struct check_call *call);

/* check_other_end returns the global rank of the other end of call, a message;
 * -1: any, and nobody has been heard. */
int32_t check_other_end(const struct check_call *call);

/* check_is_counterpart returns whether b can be the other end of a message of
 * the group, tag and ranks of a, a call of rank. A receive from any source can,
 * as long as it has heard nobody else. */
bool check_is_counterpart(const struct check_call *a, uint32_t rank,
			  const struct check_call *b);

/*
 * check_is_answered returns whether the message that rank waits with is under
 * way, because its other end has been called, by a member of group if it is
 * from any source. What is not certain from the records counts as under way.
 */
bool check_is_answered(const struct check_board *board,
		       const struct check_group *group, uint32_t rank);

#endif
