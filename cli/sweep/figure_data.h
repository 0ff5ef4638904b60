/* figure_data.h - the data of each kind of figure, as its script reads it: a
 * header line and rows, with columns separated by tabs. Private to cli/sweep/.
 */
#ifndef LOCKSTEP_CLI_SWEEP_FIGURE_DATA_H
#define LOCKSTEP_CLI_SWEEP_FIGURE_DATA_H

#include "cli/sweep/figures.h"

/* figure_write_curves writes rows of a curve, a place on an axis, and the
 * figures of these names, ended by NULL. */
void figure_write_curves(const struct figure *figure,
			 const struct answers *answers, const char *axis,
			 const char *const *names, struct dist__output *out);

typedef void figure_write_rows(const struct figure *figure,
			       const struct answers *answers,
			       struct dist__output *out);
figure_write_rows figure_write_breakdown, figure_write_fastest,
	figure_write_chosen;

/* figure_is_alike returns whether the same algorithms are chosen for the same
 * buckets at all values of an axis. */
bool figure_is_alike(const struct answers *answers, size_t axis);

/* figure_algorithms returns how many algorithms its points use, at most 2. */
int figure_algorithms(const struct figure *figure,
		      const struct answers *answers);

#endif
