/*
 * ring.c - all-reduce around a ring: reduce-scatter, then all-gather.
 *
 * Rank r only ever sends to r + 1 and receives from r - 1. Chunk c sets out at
 * rank c and grows by one rank's summands at each hop; after p - 1 hops rank
 * c - 1 holds its sum, which goes round once more to be copied.
 *
 *	5 ranks, the chunk each one sends (* complete):
 *
 *	step   rank 0    1    2    3    4
 *	  0         0    1    2    3    4     reduce-scatter
 *	  1         4    0    1    2    3
 *	  2         3    4    0    1    2
 *	  3         2    3    4    0    1
 *	  4         1*   2*   3*   4*   0*    all-gather
 *	  5         0*   1*   2*   3*   4*
 *	  6         4*   0*   1*   2*   3*
 *	  7         3*   4*   0*   1*   2*
 *
 * 2 (p - 1) steps; each rank sends 2 (p - 1) / p of the vector, which is the
 * least possible, and reduces (p - 1) / p of it. After Patarasuk and Yuan,
 * "Bandwidth optimal all-reduce algorithms for clusters of workstations",
 * J. of Parallel and Distributed Computing 69(2), 2009.
 *
 * A chunk is reduced along one path and then copied: all ranks end with the
 * same bytes.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"

struct ring {
	const struct dist__coll *coll;
	struct dist__chunks chunks;
	int left, right;
};

/* The chunk that lies back places behind the one of rank's own number, going
 * against the ring's direction; back < 2 p. */
static struct dist__span chunk(const struct ring *ring, int back)
{
	int p = ring->coll->world_size;

	return dist__span_chunks(ring->coll, &ring->chunks,
				 (ring->coll->rank + 2 * p - back) % p, 1);
}

static enum dist_error reduce_scatter(const struct ring *ring, void *scratch)
{
	const struct dist__coll *coll = ring->coll;

	for (int step = 0; step < coll->world_size - 1; step++) {
		struct dist__span sum = chunk(ring, step + 1);
		struct dist__span in = {.data = scratch, .bytes = sum.bytes};
		enum dist_error error =
			dist__exchange(coll, (uint32_t)step, ring->right,
				       chunk(ring, step), ring->left, in);

		if (error)
			return error;
		dist__combine(coll, sum, in);
	}
	return DIST_OK;
}

static enum dist_error all_gather(const struct ring *ring)
{
	const struct dist__coll *coll = ring->coll;
	int p = coll->world_size;

	for (int step = p - 1; step < 2 * (p - 1); step++) {
		enum dist_error error = dist__exchange(
			coll, (uint32_t)step, ring->right, chunk(ring, step),
			ring->left, chunk(ring, step + 1));

		if (error)
			return error;
	}
	return DIST_OK;
}

static enum dist_error run(const struct dist__coll *coll)
{
	int p = coll->world_size;
	struct ring ring = {
		.coll = coll,
		.chunks = dist__chunks_of(coll->op->tensor.numel, p),
		.left = (coll->rank + p - 1) % p,
		.right = (coll->rank + 1) % p,
	};
	void *scratch = NULL;
	enum dist_error error;

	if (p == 1)
		return DIST_OK;
	error = dist__scratch_new(
		coll, dist__span_chunks(coll, &ring.chunks, 0, 1).bytes,
		&scratch);
	if (!error)
		error = reduce_scatter(&ring, scratch);
	if (!error)
		error = all_gather(&ring);
	free(scratch);
	return error;
}

/*
 * T = (p - 1) (alpha + c beta + c gamma) + (p - 1) (alpha + c beta), with c the
 * bytes of the longest chunk; Thakur, Rabenseifner and Gropp (2005) have
 * c = n / p. The path of that chunk round the ring is the critical one: it
 * never waits for a shorter chunk.
 */
static double cost_ns(const struct dist__cost *cost, int p, size_t numel,
		      size_t element_bytes)
{
	struct dist__chunks chunks = dist__chunks_of(numel, p);
	double c = (double)(dist__chunks_numel(&chunks, 1) * element_bytes);

	return (p - 1) *
	       (2 * dist__cost_message(cost, c) + dist__cost_reduce(cost, c));
}

const struct dist__algorithm dist__ring_all_reduce = {
	.op = DIST__ALL_REDUCE,
	.name = "ring",
	.summary = "2(p-1) steps, 2(p-1)/p of the vector sent by each rank",
	.run = run,
	.cost_ns = cost_ns,
};
