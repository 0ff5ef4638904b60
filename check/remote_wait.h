/*
 * remote_wait.h - which ranks wait for which remote calls, and whether a wait
 * can still end. Private to check/.
 *
 * A call that its callee does not know is in flight, there or back. A queued
 * call begins when a worker thread of the callee is free. A running call ends
 * when everything that its function waits for has come.
 */
#ifndef LOCKSTEP_CHECK_REMOTE_WAIT_H
#define LOCKSTEP_CHECK_REMOTE_WAIT_H

#include "check/picture.h"
#include "check/text.h"

/* check_own_wait returns the remote call that the rank's own thread waits in;
 * NULL: none, or it is not recorded. */
const struct check_rpc_wait *check_own_wait(const struct check_slot *slot);

/* check_find_lanes makes the lanes of picture; false: no memory. */
bool check_find_lanes(struct check_picture *picture);

/* check_next_worker is check_next_awaited() for a wait in a remote call. */
uint32_t check_next_worker(const struct check_picture *picture,
			   const struct check_cohort *cohort, uint32_t from);

/* check_remote_may_come returns whether the remote call that cohort waits in
 * may end, given the cohorts found so far that may move. */
bool check_remote_may_come(const struct check_picture *picture,
			   const struct check_cohort *cohort);

/* check_same_rpc returns whether the two are workers of one another. */
bool check_same_rpc(const struct check_slot *a, const struct check_slot *b);

/* check_serves returns whether rank takes remote calls, as far as is known. */
bool check_serves(const struct check_slot *slot);

/* check_awaited_serving returns the callee's record of the call that wait is
 * for; NULL: none. */
const struct check_serving *
check_awaited_serving(const struct check_board *board,
		      const struct check_rpc_wait *wait);

/* check_blocking_lane returns the lane that the call waits for: the one that
 * serves it or, if the call is queued, the callee's first lane that cannot
 * move. NULL: there is none. */
const struct check_cohort *
check_blocking_lane(const struct check_picture *picture,
		    const struct check_rpc_wait *wait);

/* check_report_servings adds a line for each function that a rank runs for
 * another, and for each queued call; now_ns -1: unknown. */
void check_report_servings(struct check_lines *lines,
			   const struct check_picture *picture, int64_t now_ns);

#endif
