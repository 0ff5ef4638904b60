/*
 * rabenseifner.c - reduce of long vectors: a reduce-scatter by recursive
 * halving, then a gather along a binomial tree (Rabenseifner's algorithm).
 *
 * Ranks are numbered from the root; those beyond the largest power of two are
 * folded in (fold.h). After halving (halving.h) each number has the sum of one
 * chunk. The gather is the same exchanges backwards, in one direction: of two
 * partners the higher number sends all that it has and is done.
 *
 *	5 ranks, folded to 4 numbers; the chunks that each keeps or has:
 *
 *	rank from root  0      1      2      3      4
 *	fold in       0123 <-0123   0123   0123   0123
 *	number          0             1      2      3
 *	step 1         01            01     23     23     with number +- 2
 *	step 2         0              1     2       3     with number +- 1
 *	step 3         01 <---------- 1     23 <--- 3
 *	step 4        0123 <--------------- 23
 *
 * 2 log2 p steps; each rank sends (p - 1) / p of the vector in the first half,
 * and the root receives as much in the second; with a binomial tree alone it
 * receives log2 p vectors. If p is not a power of two, one more message of the
 * whole vector. Rabenseifner, "Optimization of Collective Reduction
 * Operations", Int. Conf. on Computational Science, LNCS 3036, 2004.
 */
#include "coll/algorithms.h"
#include "coll/halving.h"

static enum dist_error gather(struct dist__halving *h)
{
	int number = h->fold.rank;
	enum dist_error error = DIST_OK;

	for (int size = 1; size < h->fold.size && !error; size *= 2) {
		int partner = dist__fold_member(&h->fold, number ^ size);

		if (number & size)
			return dist__send(h->coll, h->step, partner,
					  dist__halving_block(h, number, size));
		error = dist__recv(h->coll, h->step++, partner,
				   dist__halving_block(h, number ^ size, size));
	}
	return error;
}

static enum dist_error run_reduce(const struct dist__coll *coll)
{
	struct dist__halving h = {
		.coll = coll,
		.fold = dist__fold_from(coll, coll->op->peer),
		.vector = {.whole = coll->op->tensor},
	};
	enum dist_error error;

	if (coll->world_size == 1)
		return DIST_OK;
	h.vector.count = h.fold.size;
	error = dist__halving_scatter_sums(&h);
	if (!error && h.fold.rank >= 0)
		error = gather(&h);
	return error;
}

/* When number has gathered the sums of its block of size numbers. */
static double gathered_ns(const struct dist__halving_model *m, int number,
			  int size)
{
	int half = size / 2;

	if (size == 1)
		return dist__halving_reduced_ns(m, number, 1);
	return dist__halving_arrival_ns(m, gathered_ns(m, number + half, half),
					gathered_ns(m, number, half),
					number + half, half);
}

/* T = 2 log2 p alpha + 2 (p - 1) / p n beta + (p - 1) / p n gamma, p a power of
 * two and dividing n, as in the paper; in general folding comes first, and what
 * a number waits for depends on whether its partner was folded. */
static double cost_reduce_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	struct dist__halving_model m =
		dist__halving_model_of(cost, p, true, numel, element_bytes);

	return gathered_ns(&m, 0, m.fold.size);
}

DIST__ALGORITHM(rabenseifner, reduce, REDUCE, "rabenseifner",
		"2 log2 p steps, 2(p-1)/p of the vector received by the root",
		"2 log2 p alpha + 2(p-1)/p n beta + (p-1)/p n gamma",
		.flow = NULL);
