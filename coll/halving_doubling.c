/*
 * halving_doubling.c - reduce-scatter by recursive halving, all-gather by
 * recursive doubling, and all-reduce as one after the other (Rabenseifner's
 * algorithm).
 *
 * The vector is cut into one chunk a rank. Reduce-scatter: partners half the
 * world apart exchange the half of their chunks that the other one keeps, then
 * partners a quarter of the world apart, until each rank has summed up one
 * chunk. All-gather: the same exchanges backwards, with complete chunks. Ranks
 * beyond the largest power of two are folded in and out (fold.h). In a single
 * half a number has the chunks of both ranks of its pair; an all-gather folds
 * in without summing up.
 *
 *	5 ranks, folded to 4 numbers; the chunks that each keeps or has:
 *
 *	rank          0      1      2      3      4
 *	fold in     0123 <-0123   0123   0123   0123
 *	number        0             1      2      3
 *	step 1       01            01     23     23     with number +- 2
 *	step 2       0              1     2       3     with number +- 1
 *	step 3       01            01     23     23     with number +- 1
 *	step 4      0123          0123   0123   0123    with number +- 2
 *	fold out    0123 ->0123
 *
 * log2 p steps for each half, in which each rank sends (p - 1) / p of the
 * vector, and reduces as much in the first. If p is no power of two, two more
 * messages: of the whole vector, or of a chunk at an end of a single half.
 * Rabenseifner, "Optimization of Collective Reduction Operations", Int. Conf.
 * on Computational Science, LNCS 3036, 2004; Thakur, Rabenseifner and Gropp,
 * "Optimization of Collective Communication Operations in MPICH", Int. J. of
 * High Performance Computing Applications 19(1), 2005.
 *
 * A chunk is summed up on one rank and then copied: all ranks end with the
 * same bytes.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/halving.h"

static enum dist_error all_gather(struct dist__halving *h)
{
	int number = h->fold.rank;

	for (int size = 1; size < h->fold.size; size *= 2) {
		int partner = dist__fold_member(&h->fold, number ^ size);
		enum dist_error error = dist__exchange(
			h->coll, h->step++, partner,
			dist__halving_block(h, number, size), partner,
			dist__halving_block(h, number ^ size, size));

		if (error)
			return error;
	}
	return DIST_OK;
}

/* Of the step that folds out; all ranks must have the same. */
static uint32_t last_step(const struct dist__halving *h)
{
	return 1 + 2 * (uint32_t)dist__log2_ceil(h->fold.size);
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	struct dist__halving h = {
		.coll = coll,
		.fold = dist__fold_from(coll, 0),
		.vector = {.whole = coll->op->tensor},
	};
	enum dist_error error;

	if (coll->world_size == 1)
		return DIST_OK;
	h.vector.count = h.fold.size;
	error = dist__halving_scatter_sums(&h);
	if (!error && h.fold.rank >= 0)
		error = all_gather(&h);
	return error ? error
		     : dist__fold_out(coll, &h.fold, last_step(&h),
				      dist__halving_whole(&h));
}

/* Sums are built up in a copy of the input, which is not ours to write to; a
 * rank that sits out only sends it. */
static enum dist_error run_reduce_scatter(const struct dist__coll *coll)
{
	struct dist__span out = dist__span_tensor(coll), theirs = out;
	const struct dist__parts *in = &coll->op->sides->in;
	struct dist__packed packed = {.scratch = NULL};
	struct dist__halving h = {
		.coll = coll,
		.fold = dist__fold_from(coll, 0),
	};
	enum dist_error error;

	error = h.fold.rank < 0 ? dist__packed_of(coll, in, &packed)
				: dist__packed_new(coll, in, &packed);
	if (!error) {
		h.vector = packed.parts;
		dist__parts_copy(coll, &h.vector, in);
		if (h.fold.rank >= 0)
			dist__charge_copy(coll, dist__halving_whole(&h).bytes);
		error = dist__halving_scatter_sums(&h);
	}
	if (!error && h.fold.rank >= 0) {
		dist__copy(out, dist__span_part(coll, &h.vector, coll->rank));
		dist__charge_copy(coll, out.bytes);
	}
	if (!error && dist__fold_receives(&h.fold))
		theirs = dist__span_part(coll, &h.vector, coll->rank + 1);
	if (!error)
		error = dist__fold_out(coll, &h.fold, last_step(&h), theirs);
	free(packed.scratch);
	return error;
}

/* Brings the parts of the ranks that sit out to their partners. */
static enum dist_error fold_parts_in(struct dist__halving *h)
{
	const struct dist__coll *coll = h->coll;
	uint32_t step = h->step++;

	if (h->fold.rank < 0)
		return dist__send(coll, step, coll->rank - 1,
				  dist__span_tensor(coll));
	if (dist__fold_receives(&h->fold))
		return dist__recv(
			coll, step, coll->rank + 1,
			dist__span_part(coll, &h->vector, coll->rank + 1));
	return DIST_OK;
}

static enum dist_error run_all_gather(const struct dist__coll *coll)
{
	const struct dist__parts *out = &coll->op->sides->out;
	struct dist__packed packed = {.scratch = NULL};
	struct dist__halving h = {
		.coll = coll,
		.fold = dist__fold_from(coll, 0),
	};
	enum dist_error error = dist__packed_of(coll, out, &packed);

	h.vector = packed.parts;
	if (!error)
		error = fold_parts_in(&h);
	if (!error && h.fold.rank >= 0) {
		dist__copy(dist__span_part(coll, &h.vector, coll->rank),
			   dist__span_tensor(coll));
		error = all_gather(&h);
	}
	if (!error)
		error = dist__fold_out(coll, &h.fold, last_step(&h),
				       dist__halving_whole(&h));
	if (!error)
		dist__parts_copy(coll, out, &h.vector);
	free(packed.scratch);
	return error;
}

/* ---- as flows --------------------------------------------------------- */

/* Of ranks that are a power of two: no folding. With the rank that differs by
 * size; what goes is the block of one of the two. */
static struct dist__hop hop_across(const struct dist__flow *flow, int rank,
				   int size, int of_block, bool reduced)
{
	struct dist__chunks chunks =
		dist__chunks_of(flow->numel, flow->world_size);
	int from = of_block & ~(size - 1);

	return (struct dist__hop){
		.to = rank ^ size,
		.bytes = (dist__chunks_numel(&chunks, from + size) -
			  dist__chunks_numel(&chunks, from)) *
			 flow->element_bytes,
		.reduced = reduced,
	};
}

static struct dist__hop halve(const struct dist__flow *flow, int rank, int step)
{
	int size = flow->world_size >> (step + 1);

	return hop_across(flow, rank, size, rank ^ size, true);
}

static struct dist__hop twofold(const struct dist__flow *flow, int rank,
				int step)
{
	return hop_across(flow, rank, 1 << step, rank, false);
}

static struct dist__hop halve_and_double(const struct dist__flow *flow,
					 int rank, int step)
{
	int half = flow->steps / 2;

	return step < half ? halve(flow, rank, step)
			   : twofold(flow, rank, step - half);
}

static enum dist_error open_half(struct dist__flow *flow)
{
	flow->steps = dist__log2_ceil(flow->world_size);
	return DIST_OK;
}

static enum dist_error open_both(struct dist__flow *flow)
{
	flow->steps = 2 * dist__log2_ceil(flow->world_size);
	return DIST_OK;
}

static const struct dist__flow_ops all_reduce_flow = {
	.halves = true, .open = open_both, .hop = halve_and_double};
static const struct dist__flow_ops reduce_scatter_flow = {
	.halves = true, .open = open_half, .hop = halve};
static const struct dist__flow_ops all_gather_flow = {
	.halves = true, .open = open_half, .hop = twofold};

/* ---- what they cost --------------------------------------------------- */

/* When number has all chunks of its block of size. */
static double gathered_ns(const struct dist__halving_model *m, int number,
			  int size)
{
	double mine_ns, other_ns, received_ns, sent_ns;
	int half = size / 2;

	if (size == 1)
		return number < m->fold.extra ? m->fold_in_ns : 0;
	mine_ns = gathered_ns(m, number, half);
	other_ns = gathered_ns(m, number ^ half, half);
	received_ns = dist__halving_arrival_ns(m, other_ns, mine_ns,
					       number ^ half, half);
	sent_ns = dist__halving_arrival_ns(m, mine_ns, other_ns, number, half);
	return received_ns > sent_ns ? received_ns : sent_ns;
}

/*
 * T = 2 log2 p alpha + 2 (p - 1) / p n beta + (p - 1) / p n gamma, p a power of
 * two and dividing n, as in the second paper.
 *
 * In general number 0 is the last in every step: its blocks are the longest,
 * it was folded if any was, and so it goes for the partners it gets. When
 * folded it may meet a partner that waits with its overhead behind it and a
 * shorter message to receive than to send: hence the recurrence, of p terms.
 * In the all-gather number 0 sends the longest block of each step.
 */
static double cost_all_reduce_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	struct dist__halving_model m =
		dist__halving_model_of(cost, p, true, numel, element_bytes);
	double time_ns = dist__halving_reduced_ns(&m, 0, 1);

	for (int size = 1; size < m.fold.size; size *= 2)
		time_ns += dist__cost_message(cost,
					      dist__halving_bytes(&m, 0, size));
	return time_ns +
	       dist__fold_out_cost_ns(cost, p, (double)(numel * element_bytes));
}

/* T = log2 p alpha + (p - 1) / p n (beta + gamma), p a power of two, as in the
 * second paper; in general as above, with a chunk folded out. */
static double cost_reduce_scatter_ns(const struct dist__cost *cost, int p,
				     size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);
	struct dist__halving_model m =
		dist__halving_model_of(cost, p, false, numel, element_bytes);

	return dist__halving_reduced_ns(&m, 0, 1) +
	       dist__fold_out_cost_ns(cost, p, n / p);
}

/* T = log2 p alpha + (p - 1) / p n beta, p a power of two, as in the second
 * paper; in general with a chunk folded in and the vector out. */
static double cost_all_gather_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);
	struct dist__halving_model m =
		dist__halving_model_of(cost, p, false, numel, element_bytes);

	if (m.fold.extra > 0)
		m.fold_in_ns = dist__cost_message(cost, n / p);
	return gathered_ns(&m, 0, m.fold.size) +
	       dist__fold_out_cost_ns(cost, p, n);
}

DIST__ALGORITHM(halving_doubling, all_reduce, ALL_REDUCE, "halving_doubling",
		"2 log2 p steps, 2(p-1)/p of the vector sent by each rank",
		"2 log2 p alpha + 2(p-1)/p n beta + (p-1)/p n gamma",
		.flow = &all_reduce_flow);

DIST__ALGORITHM(halving, reduce_scatter, REDUCE_SCATTER, "recursive_halving",
		"log2 p steps, (p-1)/p of the vector sent by each rank",
		"log2 p alpha + (p-1)/p n (beta + gamma)",
		.flow = &reduce_scatter_flow);

DIST__ALGORITHM(doubling, all_gather, ALL_GATHER, "recursive_doubling",
		"log2 p steps, (p-1)/p of the vector sent by each rank",
		"log2 p alpha + (p-1)/p n beta", .flow = &all_gather_flow);
