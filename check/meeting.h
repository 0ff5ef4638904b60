/* meeting.h - a rendezvous that failed, as its ranks tell of it. Private to
 * check/. */
#ifndef LOCKSTEP_CHECK_MEETING_H
#define LOCKSTEP_CHECK_MEETING_H

#include <stdbool.h>
#include <stdio.h>

#include "check/record.h"

/* check_failed_to_meet returns whether a rank says so. */
bool check_failed_to_meet(const struct check_board *board);

/* check_meeting_next returns the lowest rank, not below from, that a rank says
 * the failure turns on, which may be more than the job has; UINT32_MAX: none.
 */
uint32_t check_meeting_next(const struct check_board *board, uint32_t from);

/* check_report_meeting writes what the ranks were told, each sentence once. */
void check_report_meeting(FILE *out, const struct check_board *board);

#endif
