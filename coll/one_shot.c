/*
 * one_shot.c - all-reduce, reduce-scatter and barrier in one step: each rank
 * sends all others its vector, or their part of it, or nothing.
 *
 * Each rank then adds up what it received, in the order of recursive doubling
 * or recursive halving: a choice between these algorithms by size does not
 * change a bit of the sum, except that of two NaNs a reduce-scatter may keep
 * the other one.
 *
 *	0>1 0>2 0>3 0>4, 1>2 1>3 ... at the same time;  ((01) 2) (3 4)
 *
 * One step instead of log2 p, but p - 1 messages of each rank, and memory for
 * p: for the shortest vectors, where sending a message costs less than waiting
 * for one, as between ranks that share memory. PyTorch's symmetric memory has
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/fold.h"

/* What has come: of each rank one, of the length of the tensor. */
struct terms {
	const struct dist__coll *coll;
	struct dist__fold fold;
	struct dist__parts vectors;
};

static enum dist_error terms_new(const struct dist__coll *coll,
				 struct terms *terms)
{
	size_t p = (size_t)coll->world_size;

	*terms = (struct terms){
		.coll = coll,
		.fold = dist__fold_from(coll, 0),
		.vectors = {.count = coll->world_size,
			    .whole = {.numel = coll->op->tensor.numel * p,
				      .dtype = coll->op->tensor.dtype}}};
	return dist__scratch_new(coll, dist__span_tensor(coll).bytes * p,
				 &terms->vectors.whole.data);
}

static struct dist__span term(const struct terms *terms, int rank)
{
	struct dist__span one = dist__span_tensor(terms->coll);
	char *all = terms->vectors.whole.data;

	one.data = all ? all + (size_t)rank * one.bytes : NULL;
	return one;
}

/* Adds a number's to another's, after folding. */
static void add(const struct terms *terms, int to, int from)
{
	dist__combine(terms->coll,
		      term(terms, dist__fold_first(&terms->fold, to)),
		      term(terms, dist__fold_first(&terms->fold, from)));
}

static void fold_in(const struct terms *terms)
{
	for (int i = 0; i < terms->fold.extra; i++)
		dist__combine(terms->coll, term(terms, 2 * i),
			      term(terms, 2 * i + 1));
}

/* As all do by doubling: the sum ends where number 0 had its. */
static int add_by_doubling(const struct terms *terms)
{
	fold_in(terms);
	for (int bit = 1; bit < terms->fold.size; bit *= 2)
		for (int i = 0; i < terms->fold.size; i += 2 * bit)
			add(terms, i, i + bit);
	return 0;
}

/* As this rank does by halving, its own number first at each step. */
static int add_by_halving(const struct terms *terms)
{
	const struct dist__fold *fold = &terms->fold;
	int mine = fold->rank >= 0 ? fold->rank : terms->coll->rank / 2;

	fold_in(terms);
	for (int bit = fold->size / 2; bit > 0; bit /= 2)
		for (int i = 0; i < bit; i++)
			add(terms, mine ^ i, mine ^ i ^ bit);
	return dist__fold_first(fold, mine);
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	struct dist__span tensor = dist__span_tensor(coll);
	struct terms terms;
	enum dist_error error = terms_new(coll, &terms);

	if (error)
		return error;
	dist__copy(term(&terms, coll->rank), tensor);
	error = dist__send_all(coll, tensor, &terms.vectors);
	if (!error)
		dist__copy(tensor, term(&terms, add_by_doubling(&terms)));
	free(terms.vectors.whole.data);
	return error;
}

static enum dist_error run_reduce_scatter(const struct dist__coll *coll)
{
	const struct dist__parts *in = &coll->op->sides->in;
	struct terms terms;
	enum dist_error error = terms_new(coll, &terms);

	if (error)
		return error;
	dist__copy(term(&terms, coll->rank),
		   dist__span_part(coll, in, coll->rank));
	error = dist__exchange_all(coll, in, &terms.vectors);
	if (!error)
		dist__copy(dist__span_tensor(coll),
			   term(&terms, add_by_halving(&terms)));
	free(terms.vectors.whole.data);
	return error;
}

static enum dist_error run_barrier(const struct dist__coll *coll)
{
	const struct dist__parts empty = {.count = coll->world_size};

	return dist__exchange_all(coll, &empty, &empty);
}

/* T = alpha + (p - 1) (m beta + m gamma) for messages of m bytes. */
static double one_shot_ns(const struct dist__cost *cost, int p, double m)
{
	return dist__cost_all_at_once(cost, p, m) +
	       (p - 1) * dist__cost_reduce(cost, m);
}

static double cost_all_reduce_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	return one_shot_ns(cost, p, (double)(numel * element_bytes));
}

static double cost_reduce_scatter_ns(const struct dist__cost *cost, int p,
				     size_t numel, size_t element_bytes)
{
	return one_shot_ns(cost, p, (double)(numel * element_bytes) / p);
}

static double cost_barrier_ns(const struct dist__cost *cost, int p,
			      size_t numel, size_t element_bytes)
{
	(void)numel;
	(void)element_bytes;
	return dist__cost_all_at_once(cost, p, 0);
}

DIST__ALGORITHM(one_shot, all_reduce, ALL_REDUCE, "one_shot",
		"1 step, the whole vector to all ranks at once",
		"alpha + (p-1) (n beta + n gamma)", .flow = NULL);

DIST__ALGORITHM(one_shot, reduce_scatter, REDUCE_SCATTER, "one_shot",
		"1 step, every part to its rank at once",
		"alpha + (p-1)/p (n beta + n gamma)", .flow = NULL);

DIST__ALGORITHM(one_shot, barrier, BARRIER, "one_shot",
		"1 step, an empty message to all ranks at once", "alpha",
		.flow = NULL);
