/*
 * scatter_all_gather.c - broadcast of long vectors: a scatter along a binomial
 * tree, then an all-gather around a ring.
 *
 * Ranks are numbered from the root, and the vector is cut into a chunk for
 * each. Each number sends its children in the tree (tree.h) the chunks of their
 * subtrees; when every number has its own, the chunks travel round the ring.
 *
 *	5 ranks, root 0, the chunks that are sent:
 *
 *	scatter     step 0: 0>4 (4)
 *	            step 1: 0>2 (2,3)
 *	            step 2: 0>1 (1)  2>3 (3)
 *	all-gather  step 3: 0>1 (0)  1>2 (1)  2>3 (2)  3>4 (3)  4>0 (4)
 *	            step 4: 0>1 (4)  1>2 (0)  2>3 (1)  3>4 (2)  4>0 (3)
 *	            ...
 *	            step 6: 0>1 (2)  1>2 (3)  2>3 (4)  3>4 (0)  4>0 (1)
 *
 * ceil(log2 p) + p - 1 steps; the root sends (p - 1) / p of the vector in each
 * half, so that only the latency part of the time grows with p. Barnett,
 * Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor collective
 * communication library (InterCom)", Scalable High Performance Computing
 * Conference, 1994; Thakur, Rabenseifner and Gropp, "Optimization of Collective
 * Communication Operations in MPICH", Int. J. of High Performance Computing
 * Applications 19(1), 2005.
 *
 * Chunks are received in the vector itself: no scratch memory.
 */
#include "coll/algorithms.h"
#include "coll/pattern.h"
#include "coll/ring.h"
#include "coll/tree.h"

static enum dist_error scatter(const struct dist__coll *coll,
			       const struct dist__parts *chunks)
{
	struct dist__tree place = dist__tree_of(coll, coll->op->peer);
	enum dist_error error = DIST_OK;

	if (place.number != 0)
		error = dist__recv(
			coll, 0, dist__tree_parent(&place),
			dist__span_parts(coll, chunks, place.number,
					 dist__tree_size(&place, 0)));
	for (int i = place.reach / 2; i > 0 && !error; i /= 2)
		if (dist__tree_has_child(&place, i))
			error = dist__send(
				coll, 0, dist__tree_child(&place, i),
				dist__span_parts(coll, chunks, place.number + i,
						 dist__tree_size(&place, i)));
	return error;
}

static enum dist_error run_broadcast(const struct dist__coll *coll)
{
	struct dist__parts chunks = {.count = coll->world_size,
				     .whole = coll->op->tensor};
	enum dist_error error = scatter(coll, &chunks);

	return error ? error
		     : dist__ring_all_gather_from(coll, &chunks, coll->op->peer,
						  1);
}

/*
 * T = (ceil(log2 p) + p - 1) alpha + 2 (p - 1) / p n beta, as in the second
 * paper. In general the root is the last to end the scatter, for its children's
 * subtrees are no longer than what it still has to send; its own chunk is the
 * longest, and its way round the ring the critical one.
 */
static double cost_broadcast_ns(const struct dist__cost *cost, int p,
				size_t numel, size_t element_bytes)
{
	struct dist__chunks chunks = dist__chunks_of(numel, p);
	size_t longest = dist__chunks_numel(&chunks, 1) * element_bytes;
	double time_ns = (p - 1) * dist__cost_message(cost, (double)longest);

	for (int child = 1; child < p; child *= 2) {
		int end = p - child < child ? p : 2 * child;
		size_t share = dist__chunks_numel(&chunks, end) -
			       dist__chunks_numel(&chunks, child);

		time_ns += dist__cost_message(cost,
					      (double)(share * element_bytes));
	}
	return time_ns;
}

DIST__ALGORITHM(scatter_all_gather, broadcast, BROADCAST, "scatter_all_gather",
		"ceil(log2 p) + p-1 steps, 2(p-1)/p of the vector sent by the "
		"root",
		"(ceil(log2 p) + p-1) alpha + 2(p-1)/p n beta", .flow = NULL);
