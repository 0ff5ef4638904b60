/*
 * cause.h - how the processes of a job ended, as the launcher knows it, and the
 * verdict from that and the records together.
 */
#ifndef LOCKSTEP_CHECK_CAUSE_H
#define LOCKSTEP_CHECK_CAUSE_H

#include <stdbool.h>

#include "check/verdict.h"

/* The weight of a cause that the records proved. */
#define CHECK_CAUSE_PROVED 4
/* And of a rank that was stopped for as long as a call may take. */
#define CHECK_CAUSE_STOPPED 5

/* The most important of the failures of some ranks. */
struct check_cause {
	int32_t weight; /* 0: none; 1: a rank ended because another did; 2:
		       failed by itself; 3: killed; 4: ended because the
		       records proved that the job was lost (proof.h); 5:
		       stopped, when nobody else was left */
	int32_t rank;
	bool lost;     /* it did not end because a call returned an error */
	char how[128]; /* "was killed by signal 9 (Killed)" */
};

/* check_judge_cause judges the records; if they show nothing wrong, the way the
 * ranks ended. board may be NULL. */
struct check_verdict check_judge_cause(const struct check_board *board,
				       const struct check_facts *facts,
				       const struct check_cause *cause);

/* check_endless returns how long a rank has been stopped (check_facts) in a job
 * whose calls may take timeout_ns; 0: that is not the cause. */
int64_t check_endless(const struct check_cause *cause, int64_t timeout_ns);

/* check_judge_failed is the verdict where nothing is known but that rank failed
 * (-1: unknown): of that rank, or of the one that aborted the group on which
 * its call failed. board may be NULL. */
struct check_verdict check_judge_failed(const struct check_board *board,
					int32_t rank);

#endif
