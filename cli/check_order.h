/*
 * check_order.h - lockstep check --record and --expect: the order of sync
 * points of a run, written to a file or compared with one.
 *
 * It is taken from a trace of the run, kept in a folder below $TMPDIR until the
 * end.
 */
#ifndef LOCKSTEP_CLI_CHECK_ORDER_H
#define LOCKSTEP_CLI_CHECK_ORDER_H

#include "trace/points.h"

struct check_order {
	const char *record, *expect; /* files; NULL: not given */
	struct dist__points expected;
	char folder[4096], trace[4112];
};

/* Both return one of enum dist_exit, after a line on stderr if it is not OK.
 * check_order_begin reads the expected order and chooses the path of the trace.
 */
int check_order_begin(struct check_order *order);

/* check_order_end records or compares the order, unless the run failed (status:
 * its exit status). FAILED: the order differs. Releases all. */
int check_order_end(struct check_order *order, int status);

#endif
