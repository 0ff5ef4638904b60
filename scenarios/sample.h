/* sample.h - what is said about a handful of measured values. */
#ifndef LOCKSTEP_SCENARIOS_SAMPLE_H
#define LOCKSTEP_SCENARIOS_SAMPLE_H

#include <stddef.h>

struct sample {
	double min;
	double max;
	double median;
	double low_quartile;
	double high_quartile;
};

/* sample_of describes num values (1 or more) and sorts them. Quartiles and the
 * median interpolate between neighbours (R's type 7). */
struct sample sample_of(double *values, size_t num);

#endif
