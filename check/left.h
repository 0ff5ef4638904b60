/*
 * left.h - what a job that ended well has left behind. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_LEFT_H
#define LOCKSTEP_CHECK_LEFT_H

#include <stdbool.h>

#include "check/record.h"

/* A message that was sent and that nobody received. */
struct check_left {
	const struct check_call *call; /* the first of them */
	uint32_t rank;                 /* who sent it */
	uint32_t others;               /* more of them */
};

/* check_find_left returns whether there is one. Where the records of the
 * receiver are missing or have forgotten calls, or it has received from any
 * source without our knowing whom, nobody is accused. */
bool check_find_left(const struct check_board *board, struct check_left *left);

#endif
