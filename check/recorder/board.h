/* board.h - puts a job's recordings on a board. Private to check/recorder/. */
#ifndef LOCKSTEP_CHECK_RECORDER_BOARD_H
#define LOCKSTEP_CHECK_RECORDER_BOARD_H

#include "check/diagnosis.h"
#include "check/recorder/job.h"

/* check_board_fill makes the board of *diagnosis, which is zeroed, from a
 * settled job; false: no memory. */
bool check_board_fill(struct job *job, struct check_diagnosis *diagnosis);

#endif
