/*
 * dependence.h - which ranks of a group are done with a call only when others
 * have issued it, too. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_DEPENDENCE_H
#define LOCKSTEP_CHECK_DEPENDENCE_H

#include <stdbool.h>

#include "check/record.h"

enum check_dependence {
	CHECK_NEEDS_NOBODY, /* or not known */
	CHECK_NEEDS_ALL,    /* each rank needs the others */
	CHECK_ROOT_NEEDS,   /* the root needs the others */
	CHECK_OTHERS_NEED   /* the others need the root */
};

/* check_dependence returns that of call, by the name of its operation. */
enum check_dependence check_dependence(const struct check_call *call);

/* check_needs_others returns whether rank's call, which some of those that it
 * waits for have not issued, cannot end before they do. What only hands bytes
 * on ends when these have gone, however long that takes. */
bool check_needs_others(const struct check_board *board, uint32_t rank,
			const struct check_call *call);

#endif
