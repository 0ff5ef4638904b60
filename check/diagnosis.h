/*
 * diagnosis.h - the verdict on a job that has ended, from its ranks' dumps.
 *
 * The records are put back onto a board and judged like those of a running job.
 * A rank without a dump is unknown: it counts neither as lost nor as fine.
 */
#ifndef LOCKSTEP_CHECK_DIAGNOSIS_H
#define LOCKSTEP_CHECK_DIAGNOSIS_H

#include <stdbool.h>

#include "check/dump.h"
#include "check/verdict.h"

/* Zeroed: no dumps. */
struct check_diagnosis {
	struct check_board *board; /* owned; NULL: no dump yet */
	struct check_facts facts;  /* lost_rank set by check_diagnose() */
	struct check_cause cause;  /* the one of largest weight */
	char job[64], world[8];    /* of all dumps */
	uint32_t attempt;
};

/* check_diagnosis_add adds a dump; false: it does not match the earlier ones,
 * or there is no memory; see message. */
bool check_diagnosis_add(struct check_diagnosis *diagnosis,
			 const struct check_dump *dump, char message[256]);

/* check_diagnosis_missing returns whether rank has no dump. */
bool check_diagnosis_missing(const struct check_diagnosis *diagnosis,
			     uint32_t rank);

/*
 * check_diagnose judges the dumps, at least one. If ranks wrote them
 * separately, and one gave up a call at its deadline, later calls of the others
 * are removed from the board: they came too late. If nothing has failed, ranks
 * do not disagree and some have not finished: CHECK_STATUS.
 */
struct check_verdict check_diagnose(struct check_diagnosis *diagnosis);

void check_diagnosis_release(struct check_diagnosis *diagnosis);

#endif
