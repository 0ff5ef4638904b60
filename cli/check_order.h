/*
 * check_order.h - lockstep check --record and --expect: the order of sync
 * points of a run, written down or held against one that was.
 *
 * It comes from a trace of the run, which lies in a folder of its own, below
 * $TMPDIR, until the end.
 */
#ifndef LOCKSTEP_CLI_CHECK_ORDER_H
#define LOCKSTEP_CLI_CHECK_ORDER_H

#include "trace/points.h"

struct check_order {
	const char *record, *expect; /* files; NULL: not asked */
	struct dist__points expected;
	char folder[4096], trace[4112];
};

/* Both return one of enum dist_exit, after a line on stderr if it is not OK.
 * check_order_begin reads what is expected and names the trace that the job is
 * to write. */
int check_order_begin(struct check_order *order);

/* check_order_end looks at the run, unless it failed by itself: status is its
 * exit status. FAILED: it has not the order expected. Releases all. */
int check_order_end(struct check_order *order, int status);

#endif
