/*
 * baseline.h - the fit that a prediction must beat: a latency and a rate for
 * each series of a table, time = alpha + bytes x beta, taken from the very
 * times that a prediction may not see.
 *
 * A series is what differs in size alone (and in place and run): the same
 * collective, algorithm, protocol, library, machine, network, memory, nodes
 * and ranks.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_BASELINE_H
#define LOCKSTEP_MODEL_MEASURED_BASELINE_H

#include "model/measured/collectives.h"

struct baseline {
	double alpha_us;    /* 0 or more */
	double us_per_byte; /* 0 or more */
};

/* baseline_fit returns the fit of the series that a row of table is of: least
 * squares of fit / time - 1, so that small and large sizes count alike, over
 * all rows but those of use "neither"; zero if there are only such. */
struct baseline baseline_fit(const struct collectives *table, size_t row);

/* baseline_times stores what the fits of their series say of all rows of table
 * in times_us, which has room for them; 0 in series of less than three sizes,
 * which are met exactly. */
void baseline_times(const struct collectives *table, double *times_us);

/* baseline_errors stores by how much the rows of use "validation" are missed
 * by these times, |fit / time - 1|, in errors: room for all rows of table.
 * Returns how many errors there are. */
size_t baseline_errors(const struct collectives *table, double *errors);

#endif
