/* figure_data.h - the data of each kind of figure, as its script wants it: a
 * header line, then rows, columns separated by tabs. Private to cli/sweep/. */
#ifndef LOCKSTEP_CLI_SWEEP_FIGURE_DATA_H
#define LOCKSTEP_CLI_SWEEP_FIGURE_DATA_H

#include "cli/sweep/figures.h"

void figure_write_scaling(const struct figure *figure,
			  const struct answers *answers,
			  struct dist__output *out);
void figure_write_buckets(const struct figure *figure,
			  const struct answers *answers,
			  struct dist__output *out);
void figure_write_breakdown(const struct figure *figure,
			    const struct answers *answers,
			    struct dist__output *out);
void figure_write_fastest(const struct figure *figure,
			  const struct answers *answers,
			  struct dist__output *out);
void figure_write_chosen(const struct figure *figure,
			 const struct answers *answers,
			 struct dist__output *out);

/* figure_is_alike returns whether all values of an axis have the same
 * algorithms chosen for the same buckets. */
bool figure_is_alike(const struct answers *answers, size_t axis);

/* figure_algorithms returns how many algorithms its points use, counting to
 * 2. */
int figure_algorithms(const struct figure *figure,
		      const struct answers *answers);

#endif
