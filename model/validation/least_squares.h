/* least_squares.h - minimizes residuals, by the method of Levenberg and
 * Marquardt (SIAM J. Appl. Math. 11, 1963). */
#ifndef LOCKSTEP_MODEL_VALIDATION_LEAST_SQUARES_H
#define LOCKSTEP_MODEL_VALIDATION_LEAST_SQUARES_H

#include <stddef.h>

#include "lockstep/dist.h"

/*
 * Minimizes the sum over rows of weight x 2 (sqrt(1 + r^2) - 1), which grows
 * only linearly for large r, so that outliers have little weight; and the same
 * for the numbers x themselves, which are deviations from their priors in
 * standard deviations.
 */
struct least_squares {
	size_t num; /* numbers */
	double *x;  /* the numbers, 0 at first; all arrays are the caller's */

	size_t num_rows;
	const double *weights; /* of the rows, above 0 */

	/* Number i affects only rows first[i] to last[i] - 1. */
	const size_t *first, *last;

	/* Writes the residuals of rows first to last - 1 to r[first] and on. */
	void (*residuals)(void *context, const double *x, size_t first,
			  size_t last, double *r);
	void *context;
};

/* least_squares_solve stores the solution in x. Errors: NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
least_squares_solve(const struct least_squares *problem);

#endif
