/*
 * bruck.c - all-gather in which the parts that a rank has double at every step.
 *
 * In step k rank r sends all that it has, the parts of ranks r to r + 2^k - 1
 * (modulo p), to r - 2^k, and receives as many from r + 2^k. The last step
 * carries only the missing parts, so p need not be a power of two.
 *
 *	5 ranks, the parts that each one has:
 *
 *	rank            0      1      2      3      4
 *	at first        0      1      2      3      4
 *	step 0        01     12     23     34     40      from rank + 1
 *	step 1      0123   1234   2340   3401   4012      from rank + 2
 *	step 2     01234  12340  23401  34012  40123      from rank + 4
 *
 * ceil(log2 p) steps, the fewest possible; each rank sends (p - 1) / p of the
 * result, the least possible, but keeps it in scratch memory in its own order
 * and copies it at the end. Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient
 * Algorithms for All-to-All Communications in Multiport Message-Passing
 * Systems", IEEE Trans. on Parallel and Distributed Systems 8(11), 1997.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"

/* The parts in scratch memory, from the rank's own on. */
struct rotated {
	const struct dist__coll *coll;
	char *data;
};

/* The elements of the first count parts from the rank's own on. */
static size_t numel_of(const struct rotated *r, int count)
{
	const struct dist__parts *parts = &r->coll->op->sides->out;
	size_t before = dist__parts_before(parts, r->coll->rank);
	int end = r->coll->rank + count;

	if (end <= parts->count)
		return dist__parts_before(parts, end) - before;
	return dist__parts_before(parts, parts->count) - before +
	       dist__parts_before(parts, end - parts->count);
}

/* count parts, from the one first places after the rank's own on. */
static struct dist__span places(const struct rotated *r, int first, int count)
{
	size_t size = dist_dtype_size(r->coll->op->tensor.dtype);
	size_t begin = numel_of(r, first) * size;
	size_t end = numel_of(r, first + count) * size;

	return (struct dist__span){
		.data = r->data ? r->data + begin : NULL,
		.bytes = end - begin,
	};
}

static enum dist_error gather(const struct rotated *r)
{
	const struct dist__coll *coll = r->coll;
	int p = coll->world_size;
	uint32_t step = 0;

	for (int held = 1; held < p; held *= 2, step++) {
		int count = p - held < held ? p - held : held;
		enum dist_error error = dist__exchange(
			coll, step, (coll->rank + p - held) % p,
			places(r, 0, count), (coll->rank + held) % p,
			places(r, held, count));

		if (error)
			return error;
	}
	return DIST_OK;
}

static enum dist_error run_all_gather(const struct dist__coll *coll)
{
	const struct dist__parts *out = &coll->op->sides->out;
	struct rotated r = {.coll = coll};
	void *scratch = NULL;
	enum dist_error error = dist__scratch_new(
		coll, places(&r, 0, coll->world_size).bytes, &scratch);

	r.data = scratch;
	if (!error) {
		dist__copy(places(&r, 0, 1), dist__span_tensor(coll));
		dist__charge_copy(coll, places(&r, 0, 1).bytes);
		error = gather(&r);
	}
	for (int i = 0; r.data && i < coll->world_size && !error; i++)
		dist__copy(dist__span_part(coll, out,
					   (coll->rank + i) % coll->world_size),
			   places(&r, i, 1));
	if (!error)
		dist__charge_copy(coll, places(&r, 0, coll->world_size).bytes);
	free(scratch);
	return error;
}

/* T = ceil(log2 p) alpha + (p - 1) / p n beta: the steps are the same on every
 * rank. Thakur, Rabenseifner and Gropp (2005). */
static double cost_all_gather_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);

	return dist__log2_ceil(p) * dist__cost_message(cost, 0) +
	       (p - 1) * (n / p) * cost->beta_ns_per_byte;
}

DIST__ALGORITHM(bruck, all_gather, ALL_GATHER, "bruck",
		"ceil(log2 p) steps, (p-1)/p of the result sent by each",
		"ceil(log2 p) alpha + (p-1)/p n beta", .flow = NULL);
