/*
 * binomial.c - broadcast, reduce, all-reduce and barrier along a binomial tree.
 *
 * Ranks are numbered from the root. The parent of a number is the number with
 * its lowest set bit cleared. A broadcast runs down the tree, to the largest
 * subtree first; a reduce runs up, the largest subtree last. An all-reduce is a
 * reduce to rank 0 and a broadcast from there. A barrier is the same without
 * data.
 *
 *	5 ranks, root 0:        broadcast          reduce
 *
 *	      0              step 0: 0>4        step 0: 1>0 3>2
 *	    / | \            step 1: 0>2        step 1: 2>0
 *	   4  2  1           step 2: 0>1 2>3    step 2: 4>0
 *	      |
 *	      3
 *
 * ceil(log2 p) steps; the root sends (or receives and reduces) the whole vector
 * at each. Thakur, Rabenseifner and Gropp, "Optimization of Collective
 * Communication Operations in MPICH", Int. J. of High Performance Computing
 * Applications 19(1), 2005.
 *
 * Only the root computes the sum: all ranks end with the same bytes.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"
#include "coll/tree.h"

static enum dist_error tree_broadcast(const struct dist__coll *coll, int root,
				      uint32_t step)
{
	struct dist__tree place = dist__tree_of(coll, root);
	struct dist__span tensor = dist__span_tensor(coll);
	enum dist_error error = DIST_OK;

	if (place.number != 0)
		error = dist__recv(coll, step, dist__tree_parent(&place),
				   tensor);
	for (int i = place.reach / 2; i > 0 && !error; i /= 2)
		if (dist__tree_has_child(&place, i))
			error = dist__send(coll, step,
					   dist__tree_child(&place, i), tensor);
	return error;
}

/* Takes in the sums of the children, the nearest first. */
static enum dist_error take_children(const struct dist__coll *coll,
				     const struct dist__tree *place,
				     uint32_t step)
{
	struct dist__span tensor = dist__span_tensor(coll);
	struct dist__addition theirs = {tensor, tensor, NULL};
	enum dist_error error = DIST_OK;

	if (dist__tree_has_child(place, 1))
		error = dist__sum_scratch_new(coll, tensor.bytes,
					      &theirs.scratch);
	for (int i = 1; dist__tree_has_child(place, i) && !error; i *= 2)
		error = dist__recv_sum(coll, step, dist__tree_child(place, i),
				       &theirs);
	free(theirs.scratch);
	return error;
}

static enum dist_error tree_reduce(const struct dist__coll *coll, int root,
				   uint32_t step)
{
	struct dist__tree place = dist__tree_of(coll, root);
	enum dist_error error = take_children(coll, &place, step);

	if (!error && place.number != 0)
		error = dist__send(coll, step, dist__tree_parent(&place),
				   dist__span_tensor(coll));
	return error;
}

static enum dist_error run_broadcast(const struct dist__coll *coll)
{
	return tree_broadcast(coll, coll->op->peer, 0);
}

static enum dist_error run_reduce(const struct dist__coll *coll)
{
	return tree_reduce(coll, coll->op->peer, 0);
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	enum dist_error error = tree_reduce(coll, 0, 0);

	return error ? error : tree_broadcast(coll, 0, 1);
}

/*
 * T = ceil(log2 p) (alpha + n beta), as in the paper. Exact for any p: the root
 * is busy in every step, and a subtree of 2^i numbers needs i steps at most.
 */
static double cost_broadcast_ns(const struct dist__cost *cost, int p,
				size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);

	return dist__log2_ceil(p) * dist__cost_message(cost, n);
}

/*
 * The time at which the root of a tree of p ranks has reduced n bytes, in all
 * ceil(log2 p) (alpha + n beta + n gamma), as in the paper, or less: it takes
 * its children's one after the other, and a child that is ready early has its
 * overhead behind it when its turn comes.
 */
static double reduced_ns(const struct dist__cost *cost, int p, double n)
{
	double ready_ns = 0;

	for (int child = 1; child < p; child *= 2) {
		int size = p - child < child ? p - child : child;
		double sent_ns = reduced_ns(cost, size, n) + cost->overhead_ns;

		if (sent_ns > ready_ns)
			ready_ns = sent_ns;
		ready_ns += dist__cost_message(cost, n) - cost->overhead_ns +
			    dist__cost_reduce(cost, n);
	}
	return ready_ns;
}

static double cost_reduce_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	return reduced_ns(cost, p, (double)(numel * element_bytes));
}

static double cost_all_reduce_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	return cost_reduce_ns(cost, p, numel, element_bytes) +
	       cost_broadcast_ns(cost, p, numel, element_bytes);
}

/* T = 2 ceil(log2 p) alpha, as an all-reduce of nothing. */
static double cost_barrier_ns(const struct dist__cost *cost, int p,
			      size_t numel, size_t element_bytes)
{
	(void)numel;
	return cost_all_reduce_ns(cost, p, 0, element_bytes);
}

const struct dist__algorithm dist__binomial_barrier = {
	.op = DIST__BARRIER,
	.name = "binomial_tree",
	.summary = "2 ceil(log2 p) steps, an empty message each",
	.formula = "2 ceil(log2 p) alpha",
	.run = run_all_reduce,
	.cost_ns = cost_barrier_ns,
};

DIST__ALGORITHM(binomial, broadcast, BROADCAST, "binomial",
		"ceil(log2 p) steps, the root sends the vector at each",
		"ceil(log2 p) (alpha + n beta)", .flow = NULL);

DIST__ALGORITHM(binomial, reduce, REDUCE, "binomial",
		"ceil(log2 p) steps, the root receives the vector at each",
		"ceil(log2 p) (alpha + n beta + n gamma)", .flow = NULL);

DIST__ALGORITHM(binomial, all_reduce, ALL_REDUCE, "binomial_tree",
		"2 ceil(log2 p) steps, reduce to rank 0, then broadcast",
		"ceil(log2 p) (2 alpha + 2 n beta + n gamma)", .flow = NULL);
