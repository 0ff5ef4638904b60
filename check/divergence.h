/*
 * divergence.h - where ranks that should do the same went different ways.
 * Private to check/.
 *
 * Most programs are one source for all ranks, so that equal calls at different
 * lines, before ranks come to disagree or wait for ever, show where one of them
 * made a call too many or too few; as do equal calls that were for different
 * things.
 */
#ifndef LOCKSTEP_CHECK_DIVERGENCE_H
#define LOCKSTEP_CHECK_DIVERGENCE_H

#include "check/picture.h"
#include "check/text.h"

/* A collective that was called at different lines, or for different things: by
 * the fewer, and by the more. */
struct check_divergence {
	const struct check_call *few, *most;
	uint32_t rank_few, rank_most; /* first rank of each */
};

/* check_find_divergence finds the last time, before the collective `before` of
 * its group, that members began to call at different lines; if they never did,
 * for different things. False: as far as the records go, neither. */
bool check_find_divergence(const struct check_board *board,
			   const struct check_group *group,
			   const struct check_call *before,
			   struct check_divergence *divergence);

/* A collective that one rank called, and none waits in any more, and that
 * another rank of the group, which is awaited, did not call. */
struct check_absent_call {
	uint32_t rank; /* that did not */
	const struct check_call *call;
	uint32_t caller;
};

/* check_find_absent_call finds the first such call of the first awaited rank
 * that has one. False: there is none. */
bool check_find_absent_call(const struct check_picture *picture,
			    struct check_absent_call *absent);

/* check_gathering returns the first cohort, counted from that of rank on and
 * around, that waits in a collective; NULL: there is none. */
const struct check_cohort *check_gathering(const struct check_picture *picture,
					   uint32_t rank);

/* check_report_divergence and check_report_absent_call add a sentence; none if
 * there is no such call. */
void check_report_divergence(struct check_lines *lines,
			     const struct check_divergence *divergence);
void check_report_absent_call(struct check_lines *lines,
			      const struct check_absent_call *absent);

#endif
