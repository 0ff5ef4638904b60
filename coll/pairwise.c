/*
 * pairwise.c - all-to-all and reduce-scatter; each rank sends to one partner
 * and receives from one at a time.
 *
 * In step k rank r sends to r + k and receives from r - k (modulo p): every
 * step is a permutation, so no rank receives two messages at once.
 *
 *	5 ranks, each one sends to:
 *
 *	rank      0  1  2  3  4
 *	step 1    1  2  3  4  0
 *	step 2    2  3  4  0  1
 *	step 3    3  4  0  1  2
 *	step 4    4  0  1  2  3
 *
 * p - 1 steps; each rank sends each other rank's part once, directly, and in a
 * reduce-scatter adds up what it receives. Unlike in a ring, no message waits
 * for the sum of another rank. Thakur, Rabenseifner and Gropp, "Optimization of
 * Collective Communication Operations in MPICH", Int. J. of High Performance
 * Computing Applications 19(1), 2005.
 *
 * An all-to-all has one message between two ranks, here and in linear.c, and
 * its messages have no step: ranks that chose differently, because they send
 * different amounts, still match. Scratch memory: a part, for a reduce-scatter.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/schedule.h"

static enum dist_error run_all_to_all(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;
	int p = coll->world_size;
	enum dist_error error = DIST_OK;

	dist__copy(dist__span_part(coll, &op->sides->out, coll->rank),
		   dist__span_part(coll, &op->sides->in, coll->rank));
	dist__charge_copy(
		coll, dist__span_part(coll, &op->sides->in, coll->rank).bytes);
	for (int k = 1; k < p && !error; k++) {
		int to = (coll->rank + k) % p;
		int from = (coll->rank + p - k) % p;

		error = dist__exchange(
			coll, 0, to, dist__span_part(coll, &op->sides->in, to),
			from, dist__span_part(coll, &op->sides->out, from));
	}
	return error;
}

static enum dist_error add_parts(const struct dist__coll *coll, void *scratch)
{
	const struct dist__op *op = coll->op;
	int p = coll->world_size;
	struct dist__span sum = dist__span_tensor(coll);
	struct dist__addition theirs = {
		sum, dist__span_part(coll, &op->sides->in, coll->rank),
		scratch};
	enum dist_error error = DIST_OK;

	for (int k = 1; k < p && !error; k++) {
		int to = (coll->rank + k) % p;
		int from = (coll->rank + p - k) % p;

		error = dist__exchange_sum(
			coll, (uint32_t)k, to,
			dist__span_part(coll, &op->sides->in, to), from,
			&theirs);
		theirs.mine = sum;
	}
	return error;
}

static enum dist_error run_reduce_scatter(const struct dist__coll *coll)
{
	struct dist__span sum = dist__span_tensor(coll);
	void *scratch = NULL;
	enum dist_error error;

	if (coll->world_size == 1) {
		dist__copy(sum, dist__span_part(coll, &coll->op->sides->in, 0));
		return DIST_OK;
	}
	error = dist__sum_scratch_new(coll, sum.bytes, &scratch);
	if (!error)
		error = add_parts(coll, scratch);
	free(scratch);
	return error;
}

static struct dist__hop hop(const struct dist__flow *flow, int rank, int step)
{
	struct dist__chunks chunks =
		dist__chunks_of(flow->numel, flow->world_size);

	return (struct dist__hop){
		.to = (rank + step + 1) % flow->world_size,
		.bytes = dist__chunks_numel(&chunks, 1) * flow->element_bytes,
	};
}

static struct dist__hop summing_hop(const struct dist__flow *flow, int rank,
				    int step)
{
	struct dist__hop h = hop(flow, rank, step);

	h.reduced = true;
	return h;
}

static int from_of(const struct dist__flow *flow, int rank, int step)
{
	int p = flow->world_size;

	return (rank + p - 1 - step) % p;
}

static enum dist_error open_steps(struct dist__flow *flow)
{
	flow->steps = flow->world_size - 1;
	return DIST_OK;
}

static const struct dist__flow_ops all_to_all_flow = {
	.open = open_steps, .hop = hop, .from = from_of};
static const struct dist__flow_ops reduce_scatter_flow = {
	.open = open_steps, .hop = summing_hop, .from = from_of};

/* T = (p - 1) (alpha + n / p beta), for equal parts. */
static double cost_all_to_all_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);

	return (p - 1) * dist__cost_message(cost, n / p);
}

DIST__ALGORITHM(pairwise, all_to_all, ALL_TO_ALL, "pairwise",
		"p-1 steps, one part to one rank at each",
		"(p-1) (alpha + n/p beta)", .flow = &all_to_all_flow);

/* The steps of a reduce-scatter backwards, last one first: an all-gather, in
 * which each rank sends its own chunk to rank - k. */
struct steps {
	struct dist__schedule schedule;
	struct dist__chunks chunks;
};

/* Chunk of a message with peer. */
static struct dist__move with(const struct dist__schedule *schedule, int peer,
			      int chunk)
{
	const struct steps *steps = (const struct steps *)schedule;

	return (struct dist__move){
		.peer = peer,
		.slice = dist__segment(&steps->chunks, chunk),
	};
}

static struct dist__move out(const struct dist__schedule *schedule, int rank,
			     int step)
{
	return with(schedule, (rank + step + 1) % schedule->world_size, rank);
}

static struct dist__move in(const struct dist__schedule *schedule, int rank,
			    int step)
{
	int p = schedule->world_size, from = (rank + p - 1 - step) % p;

	return with(schedule, from, from);
}

/* T = (p - 1) (alpha + n / p beta + n / p gamma), p dividing n; in general a
 * rank with a shorter part may have its overhead behind it: hence step by step.
 */
static double cost_reduce_scatter_ns(const struct dist__cost *cost, int p,
				     size_t numel, size_t element_bytes)
{
	struct steps steps = {
		.schedule = {.world_size = p,
			     .num_steps = p - 1,
			     .steady_end = p - 1,
			     .out = out,
			     .in = in},
		.chunks = dist__chunks_of(numel, p),
	};

	return dist__schedule_cost_ns(cost, &steps.schedule, element_bytes,
				      true);
}

DIST__ALGORITHM(pairwise, reduce_scatter, REDUCE_SCATTER, "pairwise",
		"p-1 steps, one part to one rank at each",
		"(p-1) (alpha + n/p beta + n/p gamma)",
		.flow = &reduce_scatter_flow);
