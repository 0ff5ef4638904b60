/*
 * left.h - what a job that ended well has left behind. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_LEFT_H
#define LOCKSTEP_CHECK_LEFT_H

#include <stdbool.h>

#include "check/record.h"
#include "check/text.h"

enum check_left_kind {
	CHECK_LEFT_MESSAGE,  /* that was sent and that nobody received */
	CHECK_LEFT_HANDLE,   /* that was neither waited for nor freed */
	CHECK_LEFT_REFERENCE /* to a value that a remote call left somewhere */
};

struct check_left {
	enum check_left_kind kind;
	const struct check_call *call; /* the first of them; or NULL, and */
	const struct check_reference *reference;
	uint32_t rank;   /* who called it */
	uint32_t others; /* more of them */
};

/* check_find_left returns whether there is one: a message, else a handle, else
 * a reference: a handle before a fork before a value. Where
 * the records of the receiver are missing, or neither its counts nor all its
 * calls are complete, or it has received from any source without our knowing
 * whom, nobody is accused; and no rank of leaving a handle behind of which a
 * call has failed. */
bool check_find_left(const struct check_board *board, struct check_left *left);

/* check_next_held returns the first call after the one of that number of which
 * the rank left the handle behind, or gave it away, as `how` says; NULL: there
 * is none. */
const struct check_call *check_next_held(const struct check_slot *slot,
					 uint32_t number,
					 enum check_handle how);

/* check_warn_of_unwaited says, a line each, which calls the ranks of board, who
 * have ended well, never waited for but gave the handle away. */
void check_warn_of_unwaited(struct check_lines *lines,
			    const struct check_board *board);

/* check_warn_of_shutdown says in a line which ranks of board, who have ended
 * well, left their rpc without a shutdown. */
void check_warn_of_shutdown(struct check_lines *lines,
			    const struct check_board *board);

#endif
