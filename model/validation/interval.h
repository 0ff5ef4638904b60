/*
 * interval.h - how far a prediction may be off: what blind predictions of like
 * cases were off by.
 *
 * The errors are data, scenarios/measured/blind-errors.tsv, which
 * `lockstep validate --blind --write-errors FILE` writes: for each table,
 * collective and range of sizes ten quantiles of measured over predicted time,
 * of the 5th, 15th, ... 95th percent of its rows. Nothing of a table's machine
 * is in the constants that its errors were made with ("shared"), or nothing but
 * the rows that it gives away for calibration ("own").
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_INTERVAL_H
#define LOCKSTEP_MODEL_VALIDATION_INTERVAL_H

#include "base/tsv_table.h"
#include "model/validation/accuracy.h"

#define INTERVAL_KEYS      9
#define INTERVAL_QUANTILES 10
#define INTERVAL_COLUMNS                                                       \
	"table;machine;what;library;nodes;transport;range;constants;rows;"     \
	"q05;q15;q25;q35;q45;q55;q65;q75;q85;q95"

/* The share of like cases that an interval holds. */
#define INTERVAL_SHARE 0.8

/* What a prediction is of. Texts are borrowed. */
struct interval_case {
	const char *what;    /* collective_name(), or of a step
				stream_schedule_name() */
	const char *library; /* library_name(); "": a step */
	bool is_one_node;
	const char *transport;     /* between nodes; "": none, or not known */
	enum accuracy_range range; /* of the bytes; ALL: a step */
	bool is_calibrated;        /* by rows of the machine's own */
};

struct interval {
	double factor; /* the time lies between that divided by factor, and
			* that times factor; NAN: nothing is known */
	int machines;  /* that like cases are of */
	bool is_alike; /* false: there are none, and this is the widest */
	char like[96]; /* what like cases are: "all_reduce by nccl, several
			* nodes, to 64 MiB" */
};

struct intervals {
	struct tsv_table tsv;        /* of no rows: there is no such file */
	struct interval_line *lines; /* its rows */
};

/* intervals_load reads what comes with Lockstep; *intervals is empty where that
 * is not there. Errors: INVALID_ARGUMENT (message: "file:line: what was
 * expected"), IO, NO_MEMORY. */
DIST_MUST_CHECK enum dist_error intervals_load(struct intervals *intervals,
					       struct dist_message *message);

/*
 * intervals_find says how far off such a prediction may be. Like cases are of
 * the same collective, library, kind of network and range of sizes; where fewer
 * than INTERVAL_MACHINES machines have them, of any collective; then of any
 * network between nodes; then on any number of nodes; then by any library. A
 * collective that was never measured of a library has none, and a library of
 * which nothing was measured. Steps are alike. machine's own errors do not
 * count (NULL: all do). Errors: NO_MEMORY.
 */
#define INTERVAL_MACHINES 8
DIST_MUST_CHECK enum dist_error
intervals_find(const struct intervals *intervals,
	       const struct interval_case *of, const char *machine,
	       struct interval *interval);

/*
 * intervals_coverage returns which share of what was measured lies within the
 * intervals that the other machines' errors make, each line's rows by their
 * quantiles: of steps, or of collectives with or without calibration; NAN:
 * there are none. Errors: NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
intervals_coverage(const struct intervals *intervals, bool steps,
		   bool is_calibrated, double *share);

/* interval_range_name returns "to 32 KiB" and so on, of ALL "all sizes". */
const char *interval_range_name(enum accuracy_range range);

/* interval_describe writes how far, "80 % of like cases lie within a factor of
 * 1.35: all_reduce by nccl, several nodes, to 64 MiB, blind, of 12 machines",
 * or that there are none. */
void interval_describe(const struct interval *interval, char *text,
		       size_t size);

#endif
