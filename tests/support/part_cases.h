/*
 * part_cases.h - every algorithm that has a part for each rank, on the loop
 * transport, held against arithmetic: single tensors and lists, equal and
 * unequal lengths, in place and not.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_PART_CASES_H
#define LOCKSTEP_TESTS_SUPPORT_PART_CASES_H

#include "tests/support/algorithm_cases.h"

/* part_cases_walk runs the table on world_size ranks. Checked are the result of
 * every rank and that inputs are left alone; every tensor has memory of its
 * own, so that the address sanitizer sees what is written beside it. */
struct algorithm_outcome part_cases_walk(int world_size);

#endif
