/*
 * dissemination.c - barrier in which each rank learns of the arrival of all.
 *
 * In step k rank r sends r + 2^k an empty message, and receives one from
 * r - 2^k (modulo p): it and all ranks that it knows of have arrived. After
 * step k it knows of 2^(k+1) ranks. p need not be a power of two: then it
 * learns of some ranks twice.
 *
 *	5 ranks, each one sends to:     rank 0 learns of
 *
 *	rank      0  1  2  3  4
 *	step 0    1  2  3  4  0         4
 *	step 1    2  3  4  0  1         3 (and 2)
 *	step 2    4  0  1  2  3         1 (and 0, 4, 3)
 *
 * ceil(log2 p) steps, an empty message each. Hensgen, Finkel and Manber, "Two
 * algorithms for barrier synchronization", Int. J. of Parallel Programming
 * 17(1), 1988.
 */
#include "coll/algorithms.h"
#include "coll/pattern.h"

static enum dist_error run_barrier(const struct dist__coll *coll)
{
	const struct dist__span empty = {.data = NULL};
	int p = coll->world_size;
	int steps = dist__log2_ceil(p);
	enum dist_error error = DIST_OK;

	for (int step = 0; step < steps && !error; step++) {
		int distance = 1 << step;
		int to = (coll->rank + distance) % p;
		int from = (coll->rank + p - distance) % p;

		error = dist__exchange(coll, (uint32_t)step, to, empty, from,
				       empty);
	}
	return error;
}

/* T = ceil(log2 p) alpha: every step is one message on every rank. */
static double cost_barrier_ns(const struct dist__cost *cost, int p,
			      size_t numel, size_t element_bytes)
{
	(void)numel;
	(void)element_bytes;
	return dist__log2_ceil(p) * dist__cost_message(cost, 0);
}

DIST__ALGORITHM(dissemination, barrier, BARRIER, "dissemination",
		"ceil(log2 p) steps, an empty message each",
		"ceil(log2 p) alpha", .flow = NULL);
