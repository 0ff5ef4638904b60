/*
 * bruck_all_to_all.c - all-to-all of short parts in a logarithmic number of
 * steps.
 *
 * A part for rank r + i travels i places. In step k each rank sends rank + 2^k
 * all parts, its own and those passed to it, whose distance has bit k set, and
 * receives as many from rank - 2^k. After all bits every part has arrived at
 * its rank.
 *
 *	5 ranks; the distances of the parts that each rank passes on:
 *
 *	step 0    1, 3    to rank + 1
 *	step 1    2, 3    to rank + 2    (3 has moved 1 of its 3 places)
 *	step 2    4       to rank + 4
 *
 * ceil(log2 p) steps of about half the parts each: a part is sent once for each
 * bit of its distance, which pays if parts are so short that latency dominates.
 * Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient Algorithms for All-to-All
 * Communications in Multiport Message-Passing Systems", IEEE Trans. on Parallel
 * and Distributed Systems 8(11), 1997.
 *
 * Only the two ranks of a part know its length, so each step first sends the
 * lengths, 8 bytes a part. Ranks that send different amounts may select
 * different algorithms by size, and this one works only if all ranks select it:
 * the built-in table does not use it, and a profile should select it by world
 * size alone.
 * Scratch memory: about half the parts for each step, and one step more.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"

enum { MOST_STEPS = 31 };

struct bruck {
	const struct dist__coll *coll;
	struct dist__span *held;   /* the part that has each way to go */
	uint64_t *lengths;         /* of the parts of a step: sent, then got */
	void *brought[MOST_STEPS]; /* by each step: where they lie */
};

/* The number of ways, below p, that have bit set. */
static int num_ways(int p, int bit)
{
	int rest = p % (2 * bit) - bit;

	return p / (2 * bit) * bit + (rest > 0 ? rest : 0);
}

static int next_way(int way, int bit)
{
	return (way + 1) | bit;
}

/* Makes room for what a step sends or brings. */
static enum dist_error room_for(const struct bruck *b, const uint64_t *lengths,
				int count, struct dist__span *all)
{
	*all = (struct dist__span){.data = NULL};
	for (int i = 0; i < count; i++) {
		if (lengths[i] > (uint64_t)PTRDIFF_MAX - all->bytes)
			return DIST_ERR_MISMATCH;
		all->bytes += (size_t)lengths[i];
	}
	return dist__scratch_new(b->coll, all->bytes, &all->data);
}

/* Cuts the next bytes off a run of parts. */
static struct dist__span take(struct dist__span *rest, size_t bytes)
{
	struct dist__span first = {.data = rest->data, .bytes = bytes};

	if (rest->data)
		rest->data = (char *)rest->data + bytes;
	rest->bytes -= bytes;
	return first;
}

static enum dist_error pack(const struct bruck *b, int bit,
			    struct dist__span *out)
{
	int p = b->coll->world_size, i = 0;
	struct dist__span rest;
	enum dist_error error;

	for (int way = bit; way < p; way = next_way(way, bit))
		b->lengths[i++] = b->held[way].bytes;
	error = room_for(b, b->lengths, i, out);
	if (error)
		return error;
	rest = *out;
	for (int way = bit; way < p; way = next_way(way, bit))
		dist__copy(take(&rest, b->held[way].bytes), b->held[way]);
	dist__charge_copy(b->coll, out->bytes);
	return DIST_OK;
}

/* Delivers the parts whose way has no bit above this one. */
static enum dist_error deliver(const struct bruck *b, int bit)
{
	const struct dist__coll *coll = b->coll;
	int p = coll->world_size;

	for (int way = bit; way < 2 * bit && way < p; way++) {
		struct dist__span out =
			dist__span_part(coll, &coll->op->sides->out,
					(coll->rank + p - way) % p);

		if (out.bytes != b->held[way].bytes)
			return DIST_ERR_MISMATCH;
		dist__copy(out, b->held[way]);
		dist__charge_copy(coll, out.bytes);
	}
	return DIST_OK;
}

/* Hands on, and gets, the parts that have bit before them. */
static enum dist_error hop(struct bruck *b, int step, int bit)
{
	const struct dist__coll *coll = b->coll;
	int p = coll->world_size, count = num_ways(p, bit);
	int to = (coll->rank + bit) % p, from = (coll->rank + p - bit) % p;
	uint64_t *lengths = b->lengths + count;
	size_t bytes = (size_t)count * sizeof *lengths;
	struct dist__span sent = {.bytes = bytes, .data = b->lengths};
	struct dist__span got = {.bytes = bytes, .data = lengths};
	struct dist__span out, in = {.data = NULL};
	enum dist_error error = pack(b, bit, &out);

	if (!error)
		error = dist__exchange(coll, 2 * (uint32_t)step, to, sent, from,
				       got);
	if (!error)
		error = room_for(b, lengths, count, &in);
	if (!error)
		error = dist__exchange(coll, 2 * (uint32_t)step + 1, to, out,
				       from, in);
	free(out.data);
	b->brought[step] = in.data;
	if (error)
		return error;
	/* Notes where the parts of a step lie. */
	for (int way = bit; way < b->coll->world_size; way = next_way(way, bit))
		b->held[way] = take(&in, (size_t)*lengths++);
	return deliver(b, bit);
}

static enum dist_error hand_on(struct bruck *b)
{
	const struct dist__coll *coll = b->coll;
	const struct dist__op *op = coll->op;
	int p = coll->world_size, steps = dist__log2_ceil(p);
	enum dist_error error = DIST_OK;

	for (int way = 0; way < p; way++)
		b->held[way] = dist__span_part(coll, &op->sides->in,
					       (coll->rank + way) % p);
	dist__copy(dist__span_part(coll, &op->sides->out, coll->rank),
		   b->held[0]);
	dist__charge_copy(coll, b->held[0].bytes);
	for (int step = 0; step < steps && !error; step++)
		error = hop(b, step, 1 << step);
	for (int step = 0; step < steps; step++)
		free(b->brought[step]);
	return error;
}

static enum dist_error run_all_to_all(const struct dist__coll *coll)
{
	size_t p = (size_t)coll->world_size;
	struct bruck b = {
		.coll = coll,
		.held = calloc(p, sizeof(struct dist__span)),
		.lengths = malloc(2 * p * sizeof(uint64_t)),
	};
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (b.held && b.lengths)
		error = hand_on(&b);
	free(b.lengths);
	free(b.held);
	return error;
}

/*
 * T = 2 ceil(log2 p) alpha + ceil(log2 p) / 2 n beta, and the lengths, p a
 * power of two, for equal parts; in general with as many parts as have the bit.
 * The steps are the same on every rank.
 */
static double cost_all_to_all_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double part = (double)(numel * element_bytes) / p, time_ns = 0;

	for (int bit = 1; bit < p; bit *= 2) {
		int count = num_ways(p, bit);

		time_ns += dist__cost_message(cost, count * sizeof(uint64_t)) +
			   dist__cost_message(cost, count * part);
	}
	return time_ns;
}

DIST__ALGORITHM(bruck, all_to_all, ALL_TO_ALL, "bruck",
		"ceil(log2 p) steps of two messages, half the parts at each",
		"ceil(log2 p) (2 alpha + n/2 beta)", .flow = NULL);
