/*
 * pairwise.c - all-to-all and reduce-scatter, one partner to send to and one to
 * receive from at a time.
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
 * it goes, and in a reduce-scatter adds up what comes. Unlike around a ring, no
 * message waits for the sum of another rank. Thakur, Rabenseifner and Gropp,
 *"Optimization of Collective Communication Operations in MPICH", Int. J. of
 *High Performance Computing Applications 19(1), 2005.
 *
 * In an all-to-all one message passes between two ranks, here and in linear.c:
 * ranks that chose differently, because they send different amounts, still
 * agree. Hence no step in it. Scratch memory: one part, for a reduce-scatter.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/schedule.h"

static enum dist_error run_all_to_all(const struct dist__coll *coll)
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

static enum dist_error add_parts(const struct dist__coll *coll,
				 struct dist__span in)
{
	const struct dist__op *op = coll->op;
	int p = coll->world_size;
	struct dist__span sum = dist__span_tensor(coll);
	enum dist_error error = DIST_OK;

	dist__copy(sum, dist__span_part(coll, &op->in, coll->rank));
	for (int k = 1; k < p && !error; k++) {
		int to = (coll->rank + k) % p;
		int from = (coll->rank + p - k) % p;

		error = dist__exchange(coll, (uint32_t)k, to,
				       dist__span_part(coll, &op->in, to), from,
				       in);
		if (!error)
			dist__combine(coll, sum, in);
	}
	return error;
}

static enum dist_error run_reduce_scatter(const struct dist__coll *coll)
{
	struct dist__span in = {.bytes = dist__span_tensor(coll).bytes};
	enum dist_error error = DIST_OK;

	if (coll->world_size > 1)
		error = dist__scratch_new(coll, in.bytes, &in.data);
	if (!error)
		error = add_parts(coll, in);
	free(in.data);
	return error;
}

/* T = (p - 1) (alpha + n / p beta), for equal parts. */
static double cost_all_to_all_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);

	return (p - 1) * dist__cost_message(cost, n / p);
}

const struct dist__algorithm dist__pairwise_all_to_all = {
	.op = DIST__ALL_TO_ALL,
	.name = "pairwise",
	.summary = "p-1 steps, one part to one rank at each",
	.formula = "(p-1) (alpha + n/p beta)",
	.run = run_all_to_all,
	.cost_ns = cost_all_to_all_ns,
};

/* The steps of a reduce-scatter backwards, last one first: an all-gather, in
 * which each rank sends its own chunk to rank - k. */
struct steps {
	struct dist__schedule schedule;
	struct dist__chunks chunks;
};

static struct dist__move move(const struct dist__schedule *schedule, int rank,
			      int step)
{
	const struct steps *steps = (const struct steps *)schedule;
	int p = schedule->world_size, k = p - 1 - step;
	int from = (rank + k) % p;

	return (struct dist__move){
		.to = (rank + p - k) % p,
		.from = from,
		.out = dist__segment(&steps->chunks, rank),
		.in = dist__segment(&steps->chunks, from),
	};
}

/* T = (p - 1) (alpha + n / p beta + n / p gamma), p dividing n; in general a
 * rank with a shorter part may have its overhead behind it: hence step by step.
 */
static double cost_reduce_scatter_ns(const struct dist__cost *cost, int p,
				     size_t numel, size_t element_bytes)
{
	struct steps steps = {
		.schedule = {.world_size = p, .num_steps = p - 1, .move = move},
		.chunks = dist__chunks_of(numel, p),
	};

	return dist__schedule_cost_ns(cost, &steps.schedule, element_bytes,
				      true);
}

const struct dist__algorithm dist__pairwise_reduce_scatter = {
	.op = DIST__REDUCE_SCATTER,
	.name = "pairwise",
	.summary = "p-1 steps, one part to one rank at each",
	.formula = "(p-1) (alpha + n/p beta + n/p gamma)",
	.run = run_reduce_scatter,
	.cost_ns = cost_reduce_scatter_ns,
};
