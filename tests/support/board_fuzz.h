/* board_fuzz.h - a board that ranks scribble over, against what reads it. */
#ifndef LOCKSTEP_TESTS_SUPPORT_BOARD_FUZZ_H
#define LOCKSTEP_TESTS_SUPPORT_BOARD_FUZZ_H

#include <stdint.h>

/*
 * board_fuzz_job makes the board of a job whose records are drawn by seed,
 * scribbles over it as seed says, reads it as the launcher does, and judges,
 * reports and writes all outputs of it. Returns NULL, or what was wrong: the
 * records of a rank that nobody wrote over are not as they were, or those of a
 * rank that were are neither whole nor named as damaged, or text has bytes that
 * a terminal would obey.
 */
const char *board_fuzz_job(uint64_t seed);

#endif
