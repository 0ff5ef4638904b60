/*
 * ring.c - reduce-scatter and all-gather around a ring; all-reduce is the one
 * and then the other.
 *
 * Rank r only ever sends to r + 1 and receives from r - 1. Reduce-scatter:
 * chunk c sets out at rank c + 1 and grows by one rank's summands at each hop,
 * so that after p - 1 hops rank c holds its sum. All-gather: it goes round from
 * there to be copied.
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
 * p - 1 steps each; each rank sends (p - 1) / p of the vector in either, which
 * is the least possible, and reduces as much in the first. After Patarasuk and
 * Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
 * J. of Parallel and Distributed Computing 69(2), 2009.
 *
 * A chunk is reduced along one path and then copied: all ranks end with the
 * same bytes. Sums are built up in scratch memory, two chunks of it, because
 * the input of a reduce-scatter is not ours to write to.
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

/* Leaves in out, which may be the rank's own chunk, the sum of that chunk.
 * scratch is two of the longest, room bytes each. */
static enum dist_error pass_sums(const struct ring *ring, struct dist__span out,
				 char *scratch, size_t room)
{
	const struct dist__coll *coll = ring->coll;
	int last = coll->world_size - 2;
	struct dist__span sum = chunk(ring, 1);

	for (int step = 0; step <= last; step++) {
		struct dist__span mine = chunk(ring, step + 2);
		struct dist__span in = {.bytes = mine.bytes};
		enum dist_error error;

		if (scratch)
			in.data = scratch + (step % 2 ? room : 0);
		error = dist__exchange(coll, (uint32_t)step, ring->right, sum,
				       ring->left, in);
		if (error)
			return error;
		if (step < last)
			dist__combine(coll, in, mine);
		sum = in;
	}
	dist__copy(out, chunk(ring, 0));
	if (last >= 0)
		dist__combine(coll, out, sum);
	return DIST_OK;
}

static enum dist_error reduce_scatter(const struct ring *ring,
				      struct dist__span out)
{
	const struct dist__coll *coll = ring->coll;
	size_t room = dist__parts_longest(ring->parts) *
		      dist_dtype_size(coll->op->tensor.dtype);
	void *scratch = NULL;
	enum dist_error error = DIST_OK;

	if (coll->world_size > 1)
		error = dist__scratch_new(coll, 2 * room, &scratch);
	if (!error)
		error = pass_sums(ring, out, scratch, room);
	free(scratch);
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
	enum dist_error error = reduce_scatter(&ring, chunk(&ring, 0));

	return error ? error : all_gather(&ring, coll->world_size - 1);
}

static enum dist_error run_reduce_scatter(const struct dist__coll *coll)
{
	struct ring ring = ring_of(coll, &coll->op->in, coll->rank);

	return reduce_scatter(&ring, dist__span_tensor(coll));
}

static enum dist_error run_all_gather(const struct dist__coll *coll)
{
	struct ring ring = ring_of(coll, &coll->op->out, coll->rank);

	dist__copy(chunk(&ring, 0), dist__span_tensor(coll));
	return all_gather(&ring, 0);
}

/* The bytes of the longest chunk. */
static double chunk_bytes(int p, size_t numel, size_t element_bytes)
{
	struct dist__chunks chunks = dist__chunks_of(numel, p);

	return (double)(dist__chunks_numel(&chunks, 1) * element_bytes);
}

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

const struct dist__algorithm dist__ring_all_reduce = {
	.op = DIST__ALL_REDUCE,
	.name = "ring",
	.summary = "2(p-1) steps, 2(p-1)/p of the vector sent by each rank",
	.formula = "2(p-1) alpha + 2(p-1)/p n beta + (p-1)/p n gamma",
	.run = run_all_reduce,
	.cost_ns = cost_all_reduce_ns,
};

const struct dist__algorithm dist__ring_reduce_scatter = {
	.op = DIST__REDUCE_SCATTER,
	.name = "ring",
	.summary = "p-1 steps, (p-1)/p of the vector sent by each rank",
	.formula = "(p-1) alpha + (p-1)/p n beta + (p-1)/p n gamma",
	.run = run_reduce_scatter,
	.cost_ns = cost_reduce_scatter_ns,
};

const struct dist__algorithm dist__ring_all_gather = {
	.op = DIST__ALL_GATHER,
	.name = "ring",
	.summary = "p-1 steps, (p-1)/p of the vector sent by each rank",
	.formula = "(p-1) alpha + (p-1)/p n beta",
	.run = run_all_gather,
	.cost_ns = cost_all_gather_ns,
};
