/*
 * ring.c - reduce-scatter and all-gather around a ring; all-reduce is one after
 * the other.
 *
 * Rank r sends only to r + 1 and receives only from r - 1. Reduce-scatter:
 * chunk c starts at rank c + 1, and each rank on its way adds its summands, so
 * that after p - 1 hops rank c has its sum. All-gather: the chunk travels round
 * the ring from there and is copied.
 *
 *	5 ranks, the chunk each one sends (* complete):
 *
 *	step   rank 0    1    2    3    4
 *	  0         4    0    1    2    3     reduce-scatter
 *	  1         3    4    0    1    2
 *	  2         2    3    4    0    1
 *	  3         1    2    3    4    0
 *	  4         0*   1*   2*   3*   4*    all-gather
 *	  5         4*   0*   1*   2*   3*
 *	  6         3*   4*   0*   1*   2*
 *	  7         2*   3*   4*   0*   1*
 *
 * p - 1 steps each; each rank sends (p - 1) / p of the vector in each, the
 * minimum, and reduces as much in the first. After Patarasuk and
 * Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
 * J. of Parallel and Distributed Computing 69(2), 2009.
 *
 * A chunk is reduced along one path and then copied: all ranks end with the
 * same bytes. An all-reduce sums up in place. A reduce-scatter must not change
 * its input: sums pass through two chunks of scratch memory.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"
#include "coll/ring.h"

struct ring {
	const struct dist__coll *coll;
	const struct dist__parts *parts; /* the chunks */
	int number;                      /* of the rank's own chunk */
	int left, right;
};

static struct ring ring_of(const struct dist__coll *coll,
			   const struct dist__parts *parts, int number)
{
	int p = coll->world_size;

	return (struct ring){
		.coll = coll,
		.parts = parts,
		.number = number,
		.left = (coll->rank + p - 1) % p,
		.right = (coll->rank + 1) % p,
	};
}

/* The chunk that lies back places behind the one of rank's own number, going
 * against the ring's direction; back <= p. */
static struct dist__span chunk(const struct ring *ring, int back)
{
	int p = ring->coll->world_size;

	return dist__span_part(ring->coll, ring->parts,
			       (ring->number + p - back) % p);
}

static size_t longest(const struct ring *ring)
{
	return dist__parts_longest(ring->parts) *
	       dist_dtype_size(ring->coll->op->tensor.dtype);
}

/* Leaves the sum of the rank's own chunk in its place, and sums of others in
 * theirs. */
static enum dist_error sum_in_place(const struct ring *ring)
{
	const struct dist__coll *coll = ring->coll;
	struct dist__addition next = {.sum = chunk(ring, 1)};
	enum dist_error error = DIST_OK;

	if (coll->world_size > 1)
		error = dist__sum_scratch_new(coll, longest(ring),
					      &next.scratch);
	for (int step = 0; step < coll->world_size - 1 && !error; step++) {
		struct dist__span sum = next.sum;

		next.sum = next.mine = chunk(ring, step + 2);
		error = dist__exchange_sum(coll, (uint32_t)step, ring->right,
					   sum, ring->left, &next);
	}
	free(next.scratch);
	return error;
}

/* Leaves in out, which may be the rank's own chunk, the sum of that chunk.
 * scratch is two of the longest, room bytes each; of two ranks, one or none.
 * What passes through it takes more memory than sums in place, as copies do. */
static enum dist_error pass_sums(const struct ring *ring, struct dist__span out,
				 char *scratch, size_t room)
{
	const struct dist__coll *coll = ring->coll;
	int last = coll->world_size - 2;
	struct dist__addition next = {.sum = chunk(ring, 1)};
	enum dist_error error = DIST_OK;

	for (int step = 0; step <= last && !error; step++) {
		struct dist__span sum = next.sum;

		if (scratch)
			next.scratch = scratch + (step % 2 ? room : 0);
		next.mine = chunk(ring, step + 2);
		next.sum = next.mine;
		next.sum.data = step < last ? next.scratch : out.data;
		if (step < last)
			dist__charge_copy(coll, next.sum.bytes);
		error = dist__exchange_sum(coll, (uint32_t)step, ring->right,
					   sum, ring->left, &next);
	}
	return error;
}

/* The rank's own chunk is in its place. */
static enum dist_error all_gather(const struct ring *ring, int first_step)
{
	const struct dist__coll *coll = ring->coll;

	for (int i = 0; i < coll->world_size - 1; i++) {
		enum dist_error error = dist__exchange(
			coll, (uint32_t)(first_step + i), ring->right,
			chunk(ring, i), ring->left, chunk(ring, i + 1));

		if (error)
			return error;
	}
	return DIST_OK;
}

enum dist_error dist__ring_all_gather_from(const struct dist__coll *coll,
					   const struct dist__parts *parts,
					   int root, int first_step)
{
	int p = coll->world_size;
	struct ring ring = ring_of(coll, parts, (coll->rank - root + p) % p);

	return all_gather(&ring, first_step);
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	struct dist__parts chunks = {.count = coll->world_size,
				     .whole = coll->op->tensor};
	struct ring ring = ring_of(coll, &chunks, coll->rank);
	enum dist_error error = sum_in_place(&ring);

	return error ? error : all_gather(&ring, coll->world_size - 1);
}

static enum dist_error run_reduce_scatter(const struct dist__coll *coll)
{
	struct ring ring = ring_of(coll, &coll->op->sides->in, coll->rank);
	size_t room = longest(&ring);
	struct dist__span out = dist__span_tensor(coll);
	void *scratch = NULL;
	enum dist_error error;

	if (coll->world_size == 1) {
		dist__copy(out, chunk(&ring, 0));
		return DIST_OK;
	}
	error = coll->world_size == 2
			? dist__sum_scratch_new(coll, room, &scratch)
			: dist__scratch_new(coll, 2 * room, &scratch);
	if (!error)
		error = pass_sums(&ring, out, scratch, room);
	free(scratch);
	return error;
}

static enum dist_error run_all_gather(const struct dist__coll *coll)
{
	struct ring ring = ring_of(coll, &coll->op->sides->out, coll->rank);

	dist__copy(chunk(&ring, 0), dist__span_tensor(coll));
	return all_gather(&ring, 0);
}

/* The bytes of the longest chunk. */
static double chunk_bytes(int p, size_t numel, size_t element_bytes)
{
	struct dist__chunks chunks = dist__chunks_of(numel, p);

	return (double)(dist__chunks_numel(&chunks, 1) * element_bytes);
}

/* ---- time ------------------------------------------------------------- */

/* A step is like the others of its half. All chunks are as long as the longest,
 * unless each is to be as long as it is: of a vector, rank - 1 sets out. */
static struct dist__hop hop(const struct dist__flow *flow, int rank, int step)
{
	int p = flow->world_size;
	int number = flow->is_exact ? (rank + 2 * p - 1 - step % p) % p : 0;
	struct dist__chunks chunks = dist__chunks_of(flow->numel, p);

	return (struct dist__hop){
		.to = (rank + 1) % p,
		.bytes = (dist__chunks_numel(&chunks, number + 1) -
			  dist__chunks_numel(&chunks, number)) *
			 flow->element_bytes,
	};
}

static int from(const struct dist__flow *flow, int rank, int step)
{
	(void)step;
	return (rank + flow->world_size - 1) % flow->world_size;
}

static struct dist__hop summing_hop(const struct dist__flow *flow, int rank,
				    int step)
{
	struct dist__hop h = hop(flow, rank, step);

	h.reduced = step < flow->world_size - 1;
	return h;
}

static int like(const struct dist__flow *flow, int step)
{
	int half = flow->world_size - 1;

	return step < half ? 0 : half;
}

static enum dist_error open_half(struct dist__flow *flow)
{
	flow->steps = flow->world_size - 1;
	return DIST_OK;
}

static enum dist_error open_whole(struct dist__flow *flow)
{
	flow->steps = 2 * (flow->world_size - 1);
	return DIST_OK;
}

static const struct dist__flow_ops all_reduce_flow = {
	.open = open_whole, .hop = summing_hop, .from = from, .like = like};
static const struct dist__flow_ops reduce_scatter_flow = {
	.open = open_half, .hop = summing_hop, .from = from, .like = like};
static const struct dist__flow_ops all_gather_flow = {
	.open = open_half, .hop = hop, .from = from, .like = like};

/*
 * T = (p - 1) (alpha + c beta + c gamma), with c the bytes of the longest
 * chunk; Thakur, Rabenseifner and Gropp (2005) have c = n / p. The path of that
 * chunk round the ring is the critical one: it never waits for a shorter chunk.
 */
static double cost_reduce_scatter_ns(const struct dist__cost *cost, int p,
				     size_t numel, size_t element_bytes)
{
	double c = chunk_bytes(p, numel, element_bytes);

	return (p - 1) *
	       (dist__cost_message(cost, c) + dist__cost_reduce(cost, c));
}

/* T = (p - 1) (alpha + c beta), likewise. */
static double cost_all_gather_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	return (p - 1) *
	       dist__cost_message(cost, chunk_bytes(p, numel, element_bytes));
}

static double cost_all_reduce_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	return cost_reduce_scatter_ns(cost, p, numel, element_bytes) +
	       cost_all_gather_ns(cost, p, numel, element_bytes);
}

DIST__ALGORITHM(ring, all_reduce, ALL_REDUCE, "ring",
		"2(p-1) steps, 2(p-1)/p of the vector sent by each rank",
		"2(p-1) alpha + 2(p-1)/p n beta + (p-1)/p n gamma",
		.flow = &all_reduce_flow);

DIST__ALGORITHM(ring, reduce_scatter, REDUCE_SCATTER, "ring",
		"p-1 steps, (p-1)/p of the vector sent by each rank",
		"(p-1) alpha + (p-1)/p n beta + (p-1)/p n gamma",
		.flow = &reduce_scatter_flow);

DIST__ALGORITHM(ring, all_gather, ALL_GATHER, "ring",
		"p-1 steps, (p-1)/p of the vector sent by each rank",
		"(p-1) alpha + (p-1)/p n beta", .flow = &all_gather_flow);
