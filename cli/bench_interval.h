/* bench_interval.h - how far the simulated times of a collective may be off. */
#ifndef LOCKSTEP_CLI_BENCH_INTERVAL_H
#define LOCKSTEP_CLI_BENCH_INTERVAL_H

#include <stdio.h>

#include "model/validation/interval.h"
#include "scenarios/sweep.h"
#include "sim/tally.h"

/* By the size of a call. */
struct bench_interval {
	bool is_simulated; /* else the rest means nothing */
	struct interval ranges[ACCURACY_RANGES];
};

/* bench_interval_make looks for cases like what was simulated. Errors: as
 * intervals_load. */
DIST_MUST_CHECK enum dist_error
bench_interval_make(struct bench_interval *interval,
		    const struct dist__tally *tally, enum collective collective,
		    struct dist_message *message);

/* bench_interval_low and _high return the ends of a row's interval, us; NAN:
 * not known, or not simulated. */
double bench_interval_low(const struct bench_interval *interval,
			  const struct sweep_row *row);
double bench_interval_high(const struct bench_interval *interval,
			   const struct sweep_row *row);

/* bench_interval_print writes a line for each range of sizes among the rows, if
 * they were simulated. */
void bench_interval_print(const struct bench_interval *interval,
			  const struct sweep_row *rows, size_t num, FILE *out);

#endif
