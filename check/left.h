/*
 * left.h - what a job that ended well has left behind. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_LEFT_H
#define LOCKSTEP_CHECK_LEFT_H

#include <stdbool.h>

#include "check/record.h"
#include "check/text.h"

enum check_left_kind {
	CHECK_LEFT_MESSAGE,  /* sent, but never received */
	CHECK_LEFT_HANDLE,   /* neither waited for nor freed */
	CHECK_LEFT_REFERENCE /* to the value of a remote call */
};

struct check_left {
	enum check_left_kind kind;
	const struct check_call *call; /* the first one; NULL: a reference */
	const struct check_reference *reference;
	uint32_t rank;   /* the caller */
	uint32_t others; /* number of further ones */
};

/* check_find_left returns whether something was left: a message, else a handle,
 * else a reference (a handle before a fork before a value). A message is not
 * reported if the receiver has no records, or neither its counts nor its calls
 * are complete, or it received from an unknown source; a handle not of a rank
 * with a failed call. */
bool check_find_left(const struct check_board *board, struct check_left *left);

/* check_next_held returns the first call after call `number` whose handle the
 * rank left behind, or gave away, as `how` says; NULL: there is none. */
const struct check_call *check_next_held(const struct check_slot *slot,
					 uint32_t number,
					 enum check_handle how);

/* check_warn_of_unwaited adds a line for each call whose handle a rank of
 * board, which ended well, gave away without ever waiting for it. */
void check_warn_of_unwaited(struct check_lines *lines,
			    const struct check_board *board);

/* check_warn_of_shutdown adds a line with the ranks of board, which ended well,
 * that left their rpc without a shutdown. */
void check_warn_of_shutdown(struct check_lines *lines,
			    const struct check_board *board);

/* check_warn_of_silence adds a line if no rank of board called anything: there
 * was nothing to check. */
void check_warn_of_silence(struct check_lines *lines,
			   const struct check_board *board);

#endif
