/*
 * baseline.h - the fit that a prediction should beat: a latency and a rate for
 * each series of a table, time = alpha + bytes x beta, fitted to the times that
 * a prediction does not see.
 *
 * Rows of a series differ only in size, place and run: they have the same
 * collective, algorithm, protocol, library, machine, network, memory, nodes and
 * ranks.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_BASELINE_H
#define LOCKSTEP_MODEL_MEASURED_BASELINE_H

#include "model/measured/collectives.h"

struct baseline {
	double alpha_us;    /* 0 or more */
	double us_per_byte; /* 0 or more */
};

/* baseline_fit returns the fit of the series of a row: least squares of fit /
 * time - 1, so that small and large sizes count alike, over all rows except
 * those of use "neither"; zero if there are no others. */
struct baseline baseline_fit(const struct collectives *table, size_t row);

/* baseline_times stores in times_us, which has room for all rows of table, the
 * times by the fits of their series; 0 in series of less than three sizes,
 * which a fit meets exactly. */
void baseline_times(const struct collectives *table, double *times_us);

/* baseline_errors stores the errors of these times, |fit / time - 1|, for rows
 * of use "validation" in errors, which has room for all rows of table. Returns
 * their number. */
size_t baseline_errors(const struct collectives *table, double *errors);

#endif
