/*
 * halving_doubling.c - reduce-scatter by recursive halving, all-gather by
 * recursive doubling, and all-reduce as the one and then the other
 * (Rabenseifner's algorithm).
 *
 * The vector is cut into one chunk a rank. Reduce-scatter: partners half the
 * world apart exchange the half of their chunks that the other one keeps, then
 * a quarter of the world apart, until each rank has summed up one chunk.
 * All-gather: the same exchanges backwards, with complete chunks. Ranks beyond
 * the largest power of two are folded in and out (fold.h); alone, either half
 * gives a number the chunks of both ranks that it stands for, and an all-gather
 * folds in without summing up.
 *
 *	5 ranks, folded to 4 numbers; the chunks that each keeps or holds:
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
 * log2 p steps for either half, in which each rank sends (p - 1) / p of the
 * vector, and reduces as much in the first, p a power of two; else two messages
 * more, of the whole vector or, at the ends of the process that have one, of a
 * chunk. Rabenseifner, "Optimization of Collective Reduction Operations",
 * Int. Conf. on Computational Science, LNCS 3036, 2004; Thakur, Rabenseifner
 * and Gropp, "Optimization of Collective Communication Operations in MPICH",
 * Int. J. of High Performance Computing Applications 19(1), 2005.
 *
 * A chunk is summed up on one rank and then copied: all ranks end with the
 * same bytes.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/fold.h"

struct halving {
	const struct dist__coll *coll;
	struct dist__fold fold;
	struct dist__parts vector; /* one tensor: a chunk a number, or a rank */
	uint32_t step;
};

/* The first of the count chunks that belongs to number; the end of them for
 * number == size. */
static int first_chunk(const struct dist__fold *fold, int count, int number)
{
	return count == fold->size ? number : dist__fold_member(fold, number);
}

/* The chunks that number has in common with the size - 1 others of its block:
 * those of size numbers, from number rounded down to a multiple of size. */
static struct dist__span block(const struct halving *h, int number, int size)
{
	int count = h->vector.count, from = number & ~(size - 1);
	int begin = first_chunk(&h->fold, count, from);
	int end = first_chunk(&h->fold, count, from + size);

	return dist__span_parts(h->coll, &h->vector, begin, end - begin);
}

/* The whole vector. */
static struct dist__span whole(const struct halving *h)
{
	return dist__span_parts(h->coll, &h->vector, 0, h->vector.count);
}

static enum dist_error reduce_scatter(struct halving *h, void *scratch)
{
	int number = h->fold.rank;

	for (int size = h->fold.size / 2; size > 0; size /= 2) {
		int partner = dist__fold_member(&h->fold, number ^ size);
		struct dist__span keep = block(h, number, size);
		struct dist__span in = {.data = scratch, .bytes = keep.bytes};
		enum dist_error error = dist__exchange(
			h->coll, h->step++, partner,
			block(h, number ^ size, size), partner, in);

		if (error)
			return error;
		dist__combine(h->coll, keep, in);
	}
	return DIST_OK;
}

static enum dist_error all_gather(struct halving *h)
{
	int number = h->fold.rank;

	for (int size = 1; size < h->fold.size; size *= 2) {
		int partner = dist__fold_member(&h->fold, number ^ size);
		enum dist_error error = dist__exchange(
			h->coll, h->step++, partner, block(h, number, size),
			partner, block(h, number ^ size, size));

		if (error)
			return error;
	}
	return DIST_OK;
}

/* The most that one message brings to a reduce-scatter: a folded vector, or the
 * longer half. */
static size_t scratch_bytes(const struct halving *h)
{
	if (dist__fold_receives(&h->fold))
		return whole(h).bytes;
	if (h->fold.rank < 0 || h->fold.size == 1)
		return 0;
	return block(h, h->fold.rank, h->fold.size / 2).bytes;
}

/* Folds in, and leaves every number the sum of its chunks. */
static enum dist_error scatter_sums(struct halving *h)
{
	void *scratch = NULL;
	enum dist_error error =
		dist__scratch_new(h->coll, scratch_bytes(h), &scratch);

	if (!error)
		error = dist__fold_in(h->coll, &h->fold, h->step, whole(h),
				      scratch);
	h->step++;
	if (!error && h->fold.rank >= 0)
		error = reduce_scatter(h, scratch);
	free(scratch);
	return error;
}

/* Of the step that folds out; all ranks must have the same. */
static uint32_t last_step(const struct halving *h)
{
	return 1 + 2 * (uint32_t)dist__log2_ceil(h->fold.size);
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	struct halving h = {
		.coll = coll,
		.fold = dist__fold_of(coll->rank, coll->world_size),
		.vector = {.whole = coll->op->tensor},
	};
	enum dist_error error;

	if (coll->world_size == 1)
		return DIST_OK;
	h.vector.count = h.fold.size;
	error = scatter_sums(&h);
	if (!error && h.fold.rank >= 0)
		error = all_gather(&h);
	return error ? error
		     : dist__fold_out(coll, &h.fold, last_step(&h), whole(&h));
}

/* Sums are built up in a copy of the input, which is not ours to write to; a
 * rank that sits out only sends it. */
static enum dist_error run_reduce_scatter(const struct dist__coll *coll)
{
	struct dist__span out = dist__span_tensor(coll), theirs = out;
	const struct dist__parts *in = &coll->op->in;
	struct dist__packed packed = {.scratch = NULL};
	struct halving h = {
		.coll = coll,
		.fold = dist__fold_of(coll->rank, coll->world_size),
	};
	enum dist_error error;

	error = h.fold.rank < 0 ? dist__packed_of(coll, in, &packed)
				: dist__packed_new(coll, in, &packed);
	if (!error) {
		h.vector = packed.parts;
		dist__parts_copy(coll, &h.vector, in);
		error = scatter_sums(&h);
	}
	if (!error && h.fold.rank >= 0)
		dist__copy(out, dist__span_part(coll, &h.vector, coll->rank));
	if (!error && dist__fold_receives(&h.fold))
		theirs = dist__span_part(coll, &h.vector, coll->rank + 1);
	if (!error)
		error = dist__fold_out(coll, &h.fold, last_step(&h), theirs);
	free(packed.scratch);
	return error;
}

/* Brings the parts of the ranks that sit out to their partners. */
static enum dist_error fold_parts_in(struct halving *h)
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
	const struct dist__parts *out = &coll->op->out;
	struct dist__packed packed = {.scratch = NULL};
	struct halving h = {
		.coll = coll,
		.fold = dist__fold_of(coll->rank, coll->world_size),
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
		error = dist__fold_out(coll, &h.fold, last_step(&h), whole(&h));
	if (!error)
		dist__parts_copy(coll, out, &h.vector);
	free(packed.scratch);
	return error;
}

/* What the cost of all numbers depends on. */
struct model {
	const struct dist__cost *cost;
	struct dist__fold fold;
	struct dist__chunks chunks;
	int count; /* of chunks */
	size_t element_bytes;
	double fold_in_ns;
};

static struct model model_of(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	return (struct model){
		.cost = cost,
		.fold = dist__fold_of(0, p),
		.chunks = dist__chunks_of(numel, p),
		.count = p,
		.element_bytes = element_bytes,
	};
}

/* The bytes of the block of size numbers that number is in. */
static double block_bytes(const struct model *m, int number, int size)
{
	int from = number & ~(size - 1);
	int first = first_chunk(&m->fold, m->count, from);
	int last = first_chunk(&m->fold, m->count, from + size);
	size_t begin = dist__chunks_numel(&m->chunks, first);
	size_t end = dist__chunks_numel(&m->chunks, last);

	return (double)((end - begin) * m->element_bytes);
}

/* The arrival of the message that brings number its block; its sender was
 * ready at sender_ns, number itself at ready_ns. */
static double arrival_ns(const struct model *m, double sender_ns,
			 double ready_ns, int number, int size)
{
	double sent_ns = sender_ns + m->cost->overhead_ns;

	return (sent_ns > ready_ns ? sent_ns : ready_ns) + m->cost->alpha_ns +
	       block_bytes(m, number, size) * m->cost->beta_ns_per_byte;
}

/* When number has reduced its block of size chunks. */
static double reduced_ns(const struct model *m, int number, int size)
{
	double mine_ns, other_ns, received_ns, sent_ns;

	if (size == m->fold.size)
		return number < m->fold.extra ? m->fold_in_ns : 0;
	mine_ns = reduced_ns(m, number, 2 * size);
	other_ns = reduced_ns(m, number ^ size, 2 * size);
	received_ns = arrival_ns(m, other_ns, mine_ns, number, size);
	sent_ns = arrival_ns(m, mine_ns, other_ns, number ^ size, size);
	return (received_ns > sent_ns ? received_ns : sent_ns) +
	       dist__cost_reduce(m->cost, block_bytes(m, number, size));
}

/* When number has all chunks of its block of size. */
static double gathered_ns(const struct model *m, int number, int size)
{
	double mine_ns, other_ns, received_ns, sent_ns;
	int half = size / 2;

	if (size == 1)
		return number < m->fold.extra ? m->fold_in_ns : 0;
	mine_ns = gathered_ns(m, number, half);
	other_ns = gathered_ns(m, number ^ half, half);
	received_ns = arrival_ns(m, other_ns, mine_ns, number ^ half, half);
	sent_ns = arrival_ns(m, mine_ns, other_ns, number, half);
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
	double n = (double)(numel * element_bytes), time;
	struct model m = model_of(cost, p, numel, element_bytes);

	m.count = m.fold.size;
	m.chunks = dist__chunks_of(numel, m.count);
	m.fold_in_ns = dist__fold_in_cost_ns(cost, p, n);
	time = reduced_ns(&m, 0, 1);
	for (int size = 1; size < m.fold.size; size *= 2)
		time += dist__cost_message(cost, block_bytes(&m, 0, size));
	return time + dist__fold_out_cost_ns(cost, p, n);
}

/* T = log2 p alpha + (p - 1) / p n (beta + gamma), p a power of two, as in the
 * second paper; in general as above, with a chunk folded out. */
static double cost_reduce_scatter_ns(const struct dist__cost *cost, int p,
				     size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);
	struct model m = model_of(cost, p, numel, element_bytes);

	m.fold_in_ns = dist__fold_in_cost_ns(cost, p, n);
	return reduced_ns(&m, 0, 1) + dist__fold_out_cost_ns(cost, p, n / p);
}

/* T = log2 p alpha + (p - 1) / p n beta, p a power of two, as in the second
 * paper; in general with a chunk folded in and the vector out. */
static double cost_all_gather_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);
	struct model m = model_of(cost, p, numel, element_bytes);

	if (m.fold.extra > 0)
		m.fold_in_ns = dist__cost_message(cost, n / p);
	return gathered_ns(&m, 0, m.fold.size) +
	       dist__fold_out_cost_ns(cost, p, n);
}

const struct dist__algorithm dist__halving_doubling_all_reduce = {
	.op = DIST__ALL_REDUCE,
	.name = "halving_doubling",
	.summary = "2 log2 p steps, 2(p-1)/p of the vector sent by each rank",
	.run = run_all_reduce,
	.cost_ns = cost_all_reduce_ns,
};

const struct dist__algorithm dist__halving_reduce_scatter = {
	.op = DIST__REDUCE_SCATTER,
	.name = "recursive_halving",
	.summary = "log2 p steps, (p-1)/p of the vector sent by each rank",
	.run = run_reduce_scatter,
	.cost_ns = cost_reduce_scatter_ns,
};

const struct dist__algorithm dist__doubling_all_gather = {
	.op = DIST__ALL_GATHER,
	.name = "recursive_doubling",
	.summary = "log2 p steps, (p-1)/p of the vector sent by each rank",
	.run = run_all_gather,
	.cost_ns = cost_all_gather_ns,
};
