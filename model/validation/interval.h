/*
 * interval.h - the interval around a prediction, from the errors of blind
 * predictions of like cases.
 *
 * The errors are data, scenarios/measured/blind-errors.tsv, which `lockstep
 * validate --blind --write-errors FILE` writes: for each table, collective and
 * range of sizes ten quantiles of measured over predicted time (5 %, 15 %, ...
 * 95 % of its rows). The constants were fitted without the table's machine
 * ("shared"), or only with its rows marked for calibration ("own").
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

/* The share of like cases within an interval. */
#define INTERVAL_SHARE 0.8

/* A predicted case. Texts are borrowed. */
struct interval_case {
	const char *what;    /* collective_name(), or for a step
				stream_schedule_name() */
	const char *library; /* library_name(); "": a step */
	bool is_one_node;
	const char *transport;     /* between nodes; "": none, or not known */
	enum accuracy_range range; /* of the bytes; ALL: a step */
	bool is_calibrated;        /* with rows of the machine itself */
};

struct interval {
	double factor; /* the interval is time / factor to time x factor; NAN:
			  not known */
	int machines;  /* machines of the like cases */
	bool is_alike; /* false: there are no like cases, and this is the widest
			  interval */
	char like[96]; /* the like cases: "all_reduce by nccl, several nodes, to
			  64 MiB" */
};

struct intervals {
	struct tsv_table tsv;        /* without rows if there is no file */
	struct interval_line *lines; /* its rows */
};

/* intervals_load reads the file that comes with Lockstep; without it *intervals
 * is empty. Errors: INVALID_ARGUMENT (message: "file:line: what was expected"),
 * IO, NO_MEMORY. */
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
 * intervals_coverage stores in *share the share of measured rows within the
 * intervals from other machines' errors, by the quantiles of each line: for
 * steps, or for collectives with or without calibration; NAN: no rows. Errors:
 * NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
intervals_coverage(const struct intervals *intervals, bool steps,
		   bool is_calibrated, double *share);

/* interval_range_name returns "to 32 KiB" and so on; for ALL "all sizes". */
const char *interval_range_name(enum accuracy_range range);

/* interval_describe writes "80 % of like cases lie within a factor of 1.35:
 * all_reduce by nccl, several nodes, to 64 MiB, blind, of 12 machines", or that
 * there are no like cases. */
void interval_describe(const struct interval *interval, char *text,
		       size_t size);

#endif
