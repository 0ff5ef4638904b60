/*
 * compare.h - compares a predicted trace with a measured one: first whether the
 * ranks made the same calls, then the times.
 *
 * The time of a collective is from the last rank's start on the wire (not its
 * issue) to the last rank's end; that of a message is its receive's. Calls that
 * failed in either trace have no time.
 */
#ifndef LOCKSTEP_TRACE_COMPARE_H
#define LOCKSTEP_TRACE_COMPARE_H

#include "trace/trace.h"

/* A predicted time beside a measured one. */
struct dist__compared_time {
	double predicted_ns;
	double measured_ns;
	double ratio; /* predicted / measured; INFINITY if only measured is 0,
			 1 if both are 0 */
	double error; /* ratio - 1 */
};

/* One collective, or one message received, in both traces. */
struct dist__compared_call {
	const struct dist__trace_call *predicted; /* lowest rank's, borrowed */
	const struct dist__trace_call *measured;
	struct dist__compared_time time;
};

/* All calls with the same op, size, group size and pair of algorithms; the time
 * is their median. */
struct dist__compared_row {
	const struct dist__trace_call *predicted; /* one of them, borrowed */
	const struct dist__trace_call *measured;
	size_t num_calls;
	struct dist__compared_time time;
	double measured_min_ns, measured_p25_ns;
	double measured_p75_ns, measured_max_ns;
};

/* Compute time under one label: a rank's total, median over the ranks. */
struct dist__compared_label {
	const char *label;
	struct dist__compared_time time;
};

/* All remote calls of one function that did not fail. The time is their median,
 * from call to reply; NAN in a trace without such calls. */
struct dist__compared_remote {
	const char *function; /* or "to_here" */
	size_t num_predicted, num_measured;
	struct dist__compared_time time;
};

struct dist__comparison {
	bool comparable;
	char reason[1024]; /* why not; "" when comparable */

	/* The rest is empty unless comparable. */
	struct dist__compared_call *calls; /* by group, then in order */
	size_t num_calls;
	size_t num_failed;               /* not in calls: they failed */
	struct dist__compared_row *rows; /* by op, group size, size */
	size_t num_rows;
	struct dist__compared_label *labels; /* by name */
	size_t num_labels;
	struct dist__compared_remote *remote; /* by function */
	size_t num_remote;
	/* A rank's time from its first start to its last end, median. */
	struct dist__compared_time wall;

	/* Over the rows. Errors are absolute. */
	size_t num_ratios; /* rows with both times above 0 */
	double geometric_mean;
	double median_error;
	double p90_error;
	double worst_error;
};

/*
 * dist__order_check compares the ranks, and each rank's calls on each group.
 * Writes the first difference as a sentence to reason, "" if there is none.
 * Facts that one side does not have (PyTorch's profiler has no reduction op)
 * are not compared. Errors: NO_MEMORY.
 */
enum dist_error dist__order_check(const struct dist__trace *predicted,
				  const struct dist__trace *measured,
				  char *reason, size_t size);

/*
 * dist__compare compares two traces into *comparison, which the caller
 * releases before the traces. Traces that do not match are no error: then
 * comparable is false and reason states the first difference, in the order of
 * ranks, groups, calls. Errors: NO_MEMORY; then *comparison is empty.
 */
enum dist_error dist__compare(const struct dist__trace *predicted,
			      const struct dist__trace *measured,
			      struct dist__comparison *comparison);

/* dist__comparison_release frees what comparison owns. */
void dist__comparison_release(struct dist__comparison *comparison);

#endif
