/* statistics.h - the few numbers that describe a set of times. */
#ifndef LOCKSTEP_BASE_STATISTICS_H
#define LOCKSTEP_BASE_STATISTICS_H

#include <stddef.h>

/* dist__sort_numbers and dist__sort_whole sort n numbers in ascending order. */
void dist__sort_numbers(double *numbers, size_t n);
void dist__sort_whole(int *numbers, size_t n);

/* dist__quantile returns the q-quantile, 0 to 1, of n > 0 numbers in ascending
 * order, linear between neighbours: definition 7 of Hyndman and Fan (1996),
 * Sample Quantiles in Statistical Packages. */
double dist__quantile(const double *numbers, size_t n, double q);

/* Describes a few measured values. */
struct dist__sample {
	double min;
	double max;
	double median;
	double low_quartile;
	double high_quartile;
};

/* dist__sample_of describes num values, at least 1, and sorts them. */
struct dist__sample dist__sample_of(double *values, size_t num);

#endif
