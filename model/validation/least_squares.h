/* least_squares.h - numbers that bring residuals down, by the method of
 * Levenberg and Marquardt (SIAM J. Appl. Math. 11, 1963). */
#ifndef LOCKSTEP_MODEL_VALIDATION_LEAST_SQUARES_H
#define LOCKSTEP_MODEL_VALIDATION_LEAST_SQUARES_H

#include <stddef.h>

#include "lockstep/dist.h"

/*
 * Minimised is the sum over rows of weight x 2 (sqrt(1 + r^2) - 1), which grows
 * with r alone where r is large, so that a row which no number explains pulls
 * little; and the same of the numbers themselves, which are counted from what
 * is thought of them before any row is seen, in standard deviations.
 */
struct least_squares {
	size_t num; /* numbers */
	double *x;  /* they, which begin at 0; owned by the caller, as all */

	size_t num_rows;
	const double *weights; /* of the rows, above 0 */

	/* Each number reaches rows from first[i] to before last[i] alone. */
	const size_t *first, *last;

	/* Writes the residuals of rows from first to before last to r[first]
	 * and on. */
	void (*residuals)(void *context, const double *x, size_t first,
			  size_t last, double *r);
	void *context;
};

/* least_squares_solve leaves in x what it finds. Errors: NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
least_squares_solve(const struct least_squares *problem);

#endif
