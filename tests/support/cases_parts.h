/*
 * cases_parts.h - the part of the conformance table in which ranks have a part
 * for each other: call x form x dtype x reduce op x count x root x blocking or
 * not. Called by cases_run().
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_CASES_PARTS_H
#define LOCKSTEP_TESTS_SUPPORT_CASES_PARTS_H

#include "lockstep/dist.h"
#include "tests/support/cases.h"

/* cases_parts_walk walks the table on one rank; *index numbers the next case
 * and goes on. Returns 0, or 1 after a call failed. */
int cases_parts_walk(struct dist_group *group, struct cases_outcome *outcome,
		     uint32_t *index);

#endif
