/* crossover.h - from which size on a ring beats a tree: predicted, and measured
 * where both were forced. */
#ifndef LOCKSTEP_MODEL_VALIDATION_CROSSOVER_H
#define LOCKSTEP_MODEL_VALIDATION_CROSSOVER_H

#include "model/validation/outcome.h"

struct crossover {
	double predicted_bytes; /* 0: at none of the sizes */
	double measured_bytes;  /* the same */
};

/*
 * crossover_find returns where, of the sizes of outcome that have both a ring
 * and a tree, forced, the ring becomes the faster one for good, between two
 * sizes by the ratio of the times on logarithmic scales. Returns whether there
 * are two such sizes or more.
 */
bool crossover_find(const struct outcome *outcome, struct crossover *crossover);

#endif
