/*
 * cause.h - how the processes of a job ended, as far as whoever started them
 * knows, and the verdict on that together with the records.
 */
#ifndef LOCKSTEP_CHECK_CAUSE_H
#define LOCKSTEP_CHECK_CAUSE_H

#include <stdbool.h>

#include "check/verdict.h"

/* The weight of a cause that is no rank's end. */
#define CHECK_CAUSE_PROVED 4

/* The failure that counts among those of some ranks. */
struct check_cause {
	int32_t weight; /* 0: none; 1: a rank that followed another; 2: failed
		       by itself; 3: killed; 4: ended, because the records
		       proved that it had to be (proof.h) */
	int32_t rank;
	bool lost;    /* it gave no error of a call as the reason */
	char how[64]; /* "was killed by signal 9 (Killed)" */
};

/* check_judge_cause judges what the records show, and where they show nothing,
 * what the ranks' ends do. board may be NULL. */
struct check_verdict check_judge_cause(const struct check_board *board,
				       const struct check_facts *facts,
				       const struct check_cause *cause);

#endif
