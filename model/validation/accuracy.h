/* accuracy.h - the errors of predictions in three numbers, for all sizes and
 * for each range of sizes. */
#ifndef LOCKSTEP_MODEL_VALIDATION_ACCURACY_H
#define LOCKSTEP_MODEL_VALIDATION_ACCURACY_H

#include <stdbool.h>
#include <stddef.h>

/* Of |predicted / measured - 1|. */
struct accuracy {
	size_t num;    /* 0: the rest is unset */
	double median; /* 0.1: off by 10 % */
	double p90;    /* nine of ten errors are below it */
	double worst;
};

/* Ranges of sizes, where time is dominated by latency, by a mixture, and by
 * bandwidth. */
enum accuracy_range {
	ACCURACY_SMALL,  /* to 32 KiB */
	ACCURACY_MIDDLE, /* to 64 MiB */
	ACCURACY_LARGE,  /* above */
	ACCURACY_ALL,
	ACCURACY_RANGES
};

/* The goal for predictions of a table. */
#define ACCURACY_GOOD_MEDIAN 0.1
#define ACCURACY_GOOD_P90    0.3

/* The same when their machine was left out of all constants. */
#define ACCURACY_BLIND_MEDIAN 0.2
#define ACCURACY_BLIND_P90    0.5

/* accuracy_of returns the accuracy of num errors, which it sorts. */
struct accuracy accuracy_of(double *errors, size_t num);

/* accuracy_is_good returns whether both bounds of the goal hold, those of the
 * second where predictions are blind. */
bool accuracy_is_good(const struct accuracy *accuracy, bool blind);

/* accuracy_range_of returns the range of a size; never ALL. */
enum accuracy_range accuracy_range_of(size_t bytes);

/* accuracy_error returns |predicted / measured - 1|. */
double accuracy_error(double predicted, double measured);

#endif
