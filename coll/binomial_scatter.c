/*
 * binomial_scatter.c - scatter and gather along a binomial tree.
 *
 * The tree is that of tree.h. A scatter sends each child the parts of its whole
 * subtree, the largest subtree first; the child keeps its own part and passes
 * on the rest. A gather is the reverse, the largest subtree last.
 *
 *	5 ranks, root 0:     scatter               gather
 *
 *	      0              step 0: 0>4 (4)       step 0: 1>0 (1)  3>2 (3)
 *	    / | \            step 1: 0>2 (2,3)     step 1: 2>0 (2,3)
 *	   4  2  1           step 2: 0>1 (1)       step 2: 4>0 (4)
 *	      |                      2>3 (3)
 *	      3
 *
 * ceil(log2 p) steps; the root sends (or receives) each other part once, and
 * the ranks between pass on up to half of them. Thakur, Rabenseifner and Gropp,
 * "Optimization of Collective Communication Operations in MPICH", Int. J. of
 * High Performance Computing Applications 19(1), 2005.
 *
 * Parts must be equally long: otherwise only the owner and the root know how
 * long they are.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"
#include "coll/tree.h"

/* The share of one rank: the parts of the numbers that it heads, in order. */
struct shard {
	const struct dist__coll *coll;
	struct dist__tree place;
	struct dist__span part; /* the rank's own: the op's tensor */
	void *scratch;          /* NULL: no more than the own part */
};

/* The parts of the numbers that the one at distance heads. A leaf's share is
 * the op's tensor itself. */
static struct dist__span share_of(const struct shard *s, int distance)
{
	int count = dist__tree_size(&s->place, distance);
	struct dist__span span = {.bytes = (size_t)count * s->part.bytes};

	if (s->scratch)
		span.data =
			(char *)s->scratch + (size_t)distance * s->part.bytes;
	else if (dist__tree_size(&s->place, 0) == 1)
		span.data = s->part.data;
	return span;
}

static enum dist_error share_init(struct shard *s,
				  const struct dist__coll *coll)
{
	int count;

	*s = (struct shard){
		.coll = coll,
		.place = dist__tree_of(coll, coll->op->peer),
		.part = dist__span_tensor(coll),
	};
	count = dist__tree_size(&s->place, 0);
	if (count == 1)
		return DIST_OK;
	return dist__scratch_new(coll, (size_t)count * s->part.bytes,
				 &s->scratch);
}

/* The first of the share, which is the rank's own. */
static struct dist__span own_part(const struct shard *s)
{
	struct dist__span span = share_of(s, 0);

	span.bytes = s->part.bytes;
	return span;
}

/* The place in the root's share of what is rank's. */
static struct dist__span place_at(const struct shard *s, int number)
{
	struct dist__span span = own_part(s);

	if (span.data)
		span.data = (char *)span.data + (size_t)number * s->part.bytes;
	return span;
}

static enum dist_error run_scatter(const struct dist__coll *coll)
{
	struct shard s;
	enum dist_error error = share_init(&s, coll);

	if (!error && s.place.number != 0)
		error = dist__recv(coll, 0, dist__tree_parent(&s.place),
				   share_of(&s, 0));
	for (int i = 0; i < coll->op->sides->in.count && !error; i++)
		dist__copy(place_at(&s, i),
			   dist__span_part(coll, &coll->op->sides->in,
					   dist__tree_rank(&s.place, i)));
	for (int i = s.place.reach / 2; i > 0 && !error; i /= 2)
		if (dist__tree_has_child(&s.place, i))
			error = dist__send(coll, 0,
					   dist__tree_child(&s.place, i),
					   share_of(&s, i));
	if (!error)
		dist__copy(s.part, own_part(&s));
	free(s.scratch);
	return error;
}

static enum dist_error run_gather(const struct dist__coll *coll)
{
	struct shard s;
	enum dist_error error = share_init(&s, coll);

	if (!error)
		dist__copy(own_part(&s), s.part);
	for (int i = 1; dist__tree_has_child(&s.place, i) && !error; i *= 2)
		error = dist__recv(coll, 0, dist__tree_child(&s.place, i),
				   share_of(&s, i));
	if (!error && s.place.number != 0)
		error = dist__send(coll, 0, dist__tree_parent(&s.place),
				   share_of(&s, 0));
	for (int i = 0; i < coll->op->sides->out.count && !error; i++)
		dist__copy(dist__span_part(coll, &coll->op->sides->out,
					   dist__tree_rank(&s.place, i)),
			   place_at(&s, i));
	free(s.scratch);
	return error;
}

/* The numbers that the one at distance heads, of size. */
static int share_size(int size, int distance)
{
	return size - distance < distance ? size - distance : distance;
}

/*
 * When the last of size numbers has its part, n bytes each, in all
 * ceil(log2 p) alpha + (p - 1) / p n beta for the whole of n, as in the paper,
 * if p is a power of two; else the first share is a shorter one, and another
 * may end last.
 */
static double scattered_ns(const struct dist__cost *cost, int size, double n)
{
	double now_ns = 0, end_ns = 0;
	int child = 1;

	while (child < size)
		child *= 2;
	for (child /= 2; child > 0; child /= 2) {
		int share = share_size(size, child);
		double ended_ns;

		now_ns += dist__cost_message(cost, share * n);
		ended_ns = now_ns + scattered_ns(cost, share, n);
		end_ns = ended_ns > end_ns ? ended_ns : end_ns;
	}
	return end_ns;
}

/* When the first of size numbers has all parts: as long as a scatter, or less,
 * since a child that is ready early has its overhead behind it. */
static double gathered_ns(const struct dist__cost *cost, int size, double n)
{
	double ready_ns = 0;

	for (int child = 1; child < size; child *= 2) {
		int share = share_size(size, child);
		double sent_ns =
			gathered_ns(cost, share, n) + cost->overhead_ns;

		ready_ns = sent_ns > ready_ns ? sent_ns : ready_ns;
		ready_ns +=
			dist__cost_message(cost, share * n) - cost->overhead_ns;
	}
	return ready_ns;
}

static double part_bytes(int p, size_t numel, size_t element_bytes)
{
	return (double)(numel * element_bytes) / p;
}

static double cost_scatter_ns(const struct dist__cost *cost, int p,
			      size_t numel, size_t element_bytes)
{
	return scattered_ns(cost, p, part_bytes(p, numel, element_bytes));
}

static double cost_gather_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	return gathered_ns(cost, p, part_bytes(p, numel, element_bytes));
}

DIST__ALGORITHM(binomial, scatter, SCATTER, "binomial",
		"ceil(log2 p) steps, half the parts sent at the first",
		"ceil(log2 p) alpha + (p-1)/p n beta", .flow = NULL);

DIST__ALGORITHM(binomial, gather, GATHER, "binomial",
		"ceil(log2 p) steps, half the parts received at the last",
		"ceil(log2 p) alpha + (p-1)/p n beta", .flow = NULL);
