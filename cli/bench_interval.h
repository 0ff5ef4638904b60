/* bench_interval.h - intervals around the simulated times of a collective. */
#ifndef LOCKSTEP_CLI_BENCH_INTERVAL_H
#define LOCKSTEP_CLI_BENCH_INTERVAL_H

#include <stdio.h>

#include "model/validation/interval.h"
#include "scenarios/sweep.h"
#include "sim/tally.h"

/* By the size of a call. */
struct bench_interval {
	bool is_simulated; /* else the rest is unset */
	struct interval ranges[ACCURACY_RANGES];
};

/* bench_interval_make makes the intervals from the errors of like cases.
 * Errors: as intervals_load. */
DIST_MUST_CHECK enum dist_error
bench_interval_make(struct bench_interval *interval,
		    const struct dist__tally *tally, enum collective collective,
		    struct dist_message *message);

/* bench_interval_low and _high return the ends of a row's interval in us; NAN:
 * not known, or not simulated. */
double bench_interval_low(const struct bench_interval *interval,
			  const struct sweep_row *row);
double bench_interval_high(const struct bench_interval *interval,
			   const struct sweep_row *row);

/* bench_interval_print writes a line for each range of sizes in the rows, if
 * they were simulated. */
void bench_interval_print(const struct bench_interval *interval,
			  const struct sweep_row *rows, size_t num, FILE *out);

#endif
