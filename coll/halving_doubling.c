/*
 * halving_doubling.c - all-reduce by recursive halving, then doubling
 * (Rabenseifner's algorithm).
 *
 * The vector is cut into one chunk a rank. Reduce-scatter: partners half the
 * world apart exchange the half of their chunks that the other one keeps, then
 * a quarter of the world apart, until each rank has summed up one chunk.
 * All-gather: the same exchanges backwards, with complete chunks. Ranks beyond
 * the largest power of two are folded in and out (fold.h).
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
 * 2 log2 p steps; each rank sends 2 (p - 1) / p of the vector and reduces
 * (p - 1) / p of it, p a power of two; else two messages of the whole vector
 * more. Rabenseifner, "Optimization of Collective Reduction Operations",
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
	struct dist__chunks chunks;
	uint32_t step;
};

/* The chunks that number has in common with the size - 1 others of its block:
 * size of them, from number rounded down to a multiple of size. */
static struct dist__span block(const struct halving *h, int number, int size)
{
	return dist__span_chunks(h->coll, &h->chunks, number & ~(size - 1),
				 size);
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

/* The most that one message brings: a folded vector, or the first half. */
static size_t scratch_bytes(const struct halving *h)
{
	if (dist__fold_receives(&h->fold))
		return dist__span_tensor(h->coll).bytes;
	return h->fold.rank < 0 ? 0 : block(h, 0, h->fold.size / 2).bytes;
}

static enum dist_error run(const struct dist__coll *coll)
{
	struct halving h = {
		.coll = coll,
		.fold = dist__fold_of(coll->rank, coll->world_size),
		.step = 1,
	};
	uint32_t last_step = 1 + 2 * (uint32_t)dist__log2_ceil(h.fold.size);
	void *scratch = NULL;
	enum dist_error error;

	if (coll->world_size == 1)
		return DIST_OK;
	h.chunks = dist__chunks_of(coll->op->tensor.numel, h.fold.size);
	error = dist__scratch_new(coll, scratch_bytes(&h), &scratch);
	if (!error)
		error = dist__fold_in(coll, &h.fold, 0, scratch);
	if (!error && h.fold.rank >= 0)
		error = reduce_scatter(&h, scratch);
	if (!error && h.fold.rank >= 0)
		error = all_gather(&h);
	if (!error)
		error = dist__fold_out(coll, &h.fold, last_step);
	free(scratch);
	return error;
}

/* What the cost of all numbers depends on. */
struct model {
	const struct dist__cost *cost;
	struct dist__fold fold;
	struct dist__chunks chunks;
	size_t element_bytes;
	double fold_in_ns;
};

/* The bytes of the block of size chunks that number is in. */
static double block_bytes(const struct model *m, int number, int size)
{
	int first = number & ~(size - 1);
	size_t begin = dist__chunks_numel(&m->chunks, first);
	size_t end = dist__chunks_numel(&m->chunks, first + size);

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
static double cost_ns(const struct dist__cost *cost, int p, size_t numel,
		      size_t element_bytes)
{
	double n = (double)(numel * element_bytes);
	struct model m = {
		.cost = cost,
		.fold = dist__fold_of(0, p),
		.element_bytes = element_bytes,
		.fold_in_ns = dist__fold_in_cost_ns(cost, p, n),
	};
	double time;

	m.chunks = dist__chunks_of(numel, m.fold.size);
	time = reduced_ns(&m, 0, 1);
	for (int size = 1; size < m.fold.size; size *= 2)
		time += dist__cost_message(cost, block_bytes(&m, 0, size));
	return time + dist__fold_out_cost_ns(cost, p, n);
}

const struct dist__algorithm dist__halving_doubling_all_reduce = {
	.op = DIST__ALL_REDUCE,
	.name = "halving_doubling",
	.summary = "2 log2 p steps, 2(p-1)/p of the vector sent by each rank",
	.run = run,
	.cost_ns = cost_ns,
};
