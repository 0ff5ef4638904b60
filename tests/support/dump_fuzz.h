/* dump_fuzz.h - dumps, right and wrong, against what reads and judges them. */
#ifndef LOCKSTEP_TESTS_SUPPORT_DUMP_FUZZ_H
#define LOCKSTEP_TESTS_SUPPORT_DUMP_FUZZ_H

#include <stdint.h>

#include "check/dump.h"

/* Ranks of the jobs. */
#define DUMP_FUZZ_RANKS 4

/* dump_fuzz_draw makes the records of a rank whose calls, state and failures
 * are drawn from *state. */
void dump_fuzz_draw(uint64_t *state, uint32_t rank, struct check_dump *dump);

/*
 * dump_fuzz_job puts together dumps of a job whose calls, states and failures
 * are drawn by seed, mutates some of them, as values or as bytes, and diagnoses
 * those that are not refused, with all outputs. Returns how many were taken, or
 * -1: one that nobody had mutated was refused.
 */
int dump_fuzz_job(uint64_t seed);

#endif
