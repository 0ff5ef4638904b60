#include "model/validation/crossover.h"

#include <math.h>
#include <string.h>

/* Times of both algorithms for one size. */
struct pair {
	double bytes;
	double predicted, measured; /* log of tree over ring */
};

static bool is_forced(const struct outcome_row *row, const char *algorithm)
{
	return row->row->algorithm &&
	       strcmp(row->row->algorithm, algorithm) == 0;
}

static const struct outcome_row *find_tree(const struct outcome *outcome,
					   const struct outcome_row *ring)
{
	for (size_t i = 0; i < outcome->num; i++)
		if (is_forced(&outcome->rows[i], "tree") &&
		    outcome->rows[i].row->bytes == ring->row->bytes)
			return &outcome->rows[i];
	return NULL;
}

/* Where the logarithm rises through 0, between two sizes; 0: it does not. */
static double crossing(const struct pair *last, const struct pair *now,
		       double last_log, double now_log)
{
	double part;

	if (!(last_log < 0) || now_log < 0)
		return 0;
	part = last_log / (last_log - now_log);
	return last->bytes * pow(now->bytes / last->bytes, part);
}

bool crossover_find(const struct outcome *outcome, struct crossover *crossover)
{
	struct pair last = {0}, now;
	size_t num = 0;

	*crossover = (struct crossover){0};
	for (size_t i = 0; i < outcome->num; i++) {
		const struct outcome_row *ring = &outcome->rows[i];
		const struct outcome_row *tree = NULL;
		double bytes;

		if (is_forced(ring, "ring"))
			tree = find_tree(outcome, ring);
		if (!tree)
			continue;
		now.bytes = (double)ring->row->bytes;
		now.predicted = log(tree->predicted_us / ring->predicted_us);
		now.measured = log(tree->row->time_us.value /
				   ring->row->time_us.value);
		if (num++ > 0) {
			bytes = crossing(&last, &now, last.predicted,
					 now.predicted);
			if (bytes > 0)
				crossover->predicted_bytes = bytes;
			bytes = crossing(&last, &now, last.measured,
					 now.measured);
			if (bytes > 0)
				crossover->measured_bytes = bytes;
		}
		last = now;
	}
	return num > 1;
}
