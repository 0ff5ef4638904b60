/*
 * divergence.h - finds where ranks that should do the same did not.
 * Private to check/.
 *
 * Most programs have one source for all ranks. Equal calls at different lines,
 * before ranks disagree or wait for ever, then show where one of them made a
 * call too many or too few. So do equal calls with different labels.
 */
#ifndef LOCKSTEP_CHECK_DIVERGENCE_H
#define LOCKSTEP_CHECK_DIVERGENCE_H

#include "check/picture.h"
#include "check/text.h"

/* A collective that ranks called at different lines, or with different labels:
 * the call of fewer ranks, and that of more. */
struct check_divergence {
	const struct check_call *few, *most;
	uint32_t rank_few, rank_most; /* first rank of each */
};

/* check_find_divergence finds the last time, before the collective `before` of
 * group, that members began to call at different lines, or with different
 * labels. Returns false if the records show neither. */
bool check_find_divergence(const struct check_board *board,
			   const struct check_group *group,
			   const struct check_call *before,
			   struct check_divergence *divergence);

/* A collective that one rank called, that no rank waits in any more, and that
 * another rank of the group, which others wait for, did not call. */
struct check_absent_call {
	uint32_t rank; /* that did not call */
	const struct check_call *call;
	uint32_t caller;
};

/* check_find_absent_call finds the first such call of the first rank that
 * others wait for. Returns false if there is none. */
bool check_find_absent_call(const struct check_picture *picture,
			    struct check_absent_call *absent);

/* check_gathering returns the first cohort that waits in a collective,
 * beginning with that of rank and going round; NULL: there is none. */
const struct check_cohort *check_gathering(const struct check_picture *picture,
					   uint32_t rank);

/* check_report_divergence and check_report_absent_call add a sentence, none if
 * the call is NULL. */
void check_report_divergence(struct check_lines *lines,
			     const struct check_divergence *divergence);
void check_report_absent_call(struct check_lines *lines,
			      const struct check_absent_call *absent);

/* Ranks that wait in the same call, but on two groups of the same ranks. */
struct check_other_group {
	const struct check_cohort *few, *most; /* NULL: there are none */
};

/* check_find_other_group finds the first two such cohorts. */
void check_find_other_group(const struct check_picture *picture,
			    struct check_other_group *found);

/* check_report_other_group adds a sentence, none if the cohorts are NULL. */
void check_report_other_group(struct check_lines *lines,
			      const struct check_other_group *found);

#endif
