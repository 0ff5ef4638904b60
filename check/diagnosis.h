/*
 * diagnosis.h - the verdict on a job that is over, from its ranks' dumps.
 *
 * The records go back onto a board, and the engine judges them as it does those
 * of a job that runs. A rank of which there is no dump is not known: it is
 * taken neither for lost nor for well.
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
	struct check_cause cause;  /* the weightiest of the dumps */
	char job[64], world[8];    /* of all dumps */
	uint32_t attempt;
};

/* check_diagnosis_add takes a dump in; false: it does not go with those before,
 * or there is no memory, as message says. */
bool check_diagnosis_add(struct check_diagnosis *diagnosis,
			 const struct check_dump *dump, char message[256]);

/* check_diagnosis_missing returns whether there is no dump of rank. */
bool check_diagnosis_missing(const struct check_diagnosis *diagnosis,
			     uint32_t rank);

/*
 * check_diagnose judges the dumps, one at least. Where ranks wrote them one by
 * one, and one gave up a call at its deadline, the others' later calls are
 * taken off the board: they came too late. Where nothing has failed, and not
 * all ranks have finished, CHECK_STATUS, unless they disagree.
 */
struct check_verdict check_diagnose(struct check_diagnosis *diagnosis);

void check_diagnosis_release(struct check_diagnosis *diagnosis);

#endif
