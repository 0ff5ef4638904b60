/*
 * pairwise.c - all-to-all, one partner to send to and one to receive from at a
 * time.
 *
 * In step k rank r sends to r + k and receives from r - k (modulo p): every
 * step is a permutation of the ranks, so that no two messages meet at one.
 *
 *	5 ranks, each one sends to:
 *
 *	rank      0  1  2  3  4
 *	step 1    1  2  3  4  0
 *	step 2    2  3  4  0  1
 *	step 3    3  4  0  1  2
 *	step 4    4  0  1  2  3
 *
 * p - 1 steps; each rank sends every part but its own once, straight to where
 * it goes. Thakur, Rabenseifner and Gropp, "Optimization of Collective
 * Communication Operations in MPICH", Int. J. of High Performance Computing
 * Applications 19(1), 2005.
 *
 * One message passes between two ranks, whatever the algorithm: ranks that
 * chose differently, because they send different amounts, still agree. Hence
 * no step in it.
 */
#include "coll/algorithms.h"
#include "coll/pattern.h"

static enum dist_error run(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;
	int p = coll->world_size;
	enum dist_error error = DIST_OK;

	dist__copy(dist__span_part(coll, &op->out, coll->rank),
		   dist__span_part(coll, &op->in, coll->rank));
	for (int k = 1; k < p && !error; k++) {
		int to = (coll->rank + k) % p;
		int from = (coll->rank + p - k) % p;

		error = dist__exchange(coll, 0, to,
				       dist__span_part(coll, &op->in, to), from,
				       dist__span_part(coll, &op->out, from));
	}
	return error;
}

/* T = (p - 1) (alpha + n / p beta), for equal parts. */
static double cost_ns(const struct dist__cost *cost, int p, size_t numel,
		      size_t element_bytes)
{
	double n = (double)(numel * element_bytes);

	return (p - 1) * dist__cost_message(cost, n / p);
}

const struct dist__algorithm dist__pairwise_all_to_all = {
	.op = DIST__ALL_TO_ALL,
	.name = "pairwise",
	.summary = "p-1 steps, one part to one rank at each",
	.run = run,
	.cost_ns = cost_ns,
};
