/* crossover.h - the size from which a ring is faster than a tree: predicted,
 * and measured where both were forced. */
#ifndef LOCKSTEP_MODEL_VALIDATION_CROSSOVER_H
#define LOCKSTEP_MODEL_VALIDATION_CROSSOVER_H

#include "model/validation/outcome.h"

struct crossover {
	double predicted_bytes; /* 0: at no size */
	double measured_bytes;  /* the same */
};

/*
 * crossover_find stores the size from which the ring stays faster, among sizes
 * of outcome with both a forced ring and a forced tree; between two sizes it
 * interpolates the ratio of times on logarithmic scales. Returns whether there
 * are at least two such sizes.
 */
bool crossover_find(const struct outcome *outcome, struct crossover *crossover);

#endif
