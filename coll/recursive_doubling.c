/*
 * recursive_doubling.c - all-reduce of the whole vector at every step.
 *
 * In step k each rank exchanges its vector with the rank whose number differs
 * in bit k, and both add up: after step k blocks of 2^(k+1) ranks agree. Ranks
 * beyond the largest power of two are folded in and out (fold.h).
 *
 *	5 ranks, exchanges; on the right, whose summands rank 0 adds up:
 *
 *	rank        0     1     2     3     4
 *	fold in     0<----1
 *	step 1      0<--------->2     3<--->4      01 with 2,  3 with 4
 *	step 2      0<--------------->3
 *	                        2<--------->4      012 with 34
 *	fold out    0---->1
 *
 * log2 p steps, each sending and reducing the whole vector; two messages more
 * when p is not a power of two. Thakur, Rabenseifner and Gropp, "Optimization
 * of Collective Communication Operations in MPICH", Int. J. of High
 * Performance Computing Applications 19(1), 2005.
 *
 * Partners compute the same sum twice, so both must combine in the same order:
 * lower block op higher block (core/reduce.c says what differs otherwise). The
 * higher rank therefore reduces its own vector into the one that it received,
 * and the two buffers are exchanged.
 */
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algorithms.h"
#include "coll/fold.h"

/* Less than malloc() and free() cost, on a stack that is there anyway. */
#define SHORT_BYTES 256

static enum dist_error doubling(const struct dist__coll *coll,
				const struct dist__fold *fold, void *scratch)
{
	struct dist__span tensor = dist__span_tensor(coll);
	struct dist__span mine = tensor;
	struct dist__span other = {.data = scratch, .bytes = mine.bytes};
	uint32_t step = 1;

	for (int bit = 1; bit < fold->size; bit *= 2) {
		int partner = dist__fold_member(fold, fold->rank ^ bit);
		enum dist_error error = dist__exchange(coll, step++, partner,
						       mine, partner, other);

		if (error)
			return error;
		if (fold->rank & bit) {
			struct dist__span lower = other;

			other = mine;
			mine = lower;
		}
		dist__combine(coll, mine, other);
	}
	if (mine.data != tensor.data && tensor.bytes > 0)
		memcpy(tensor.data, mine.data, tensor.bytes);
	return DIST_OK;
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	struct dist__fold fold = dist__fold_from(coll, 0);
	struct dist__span tensor = dist__span_tensor(coll);
	uint32_t last_step = 1 + (uint32_t)dist__log2_ceil(fold.size);
	/* Vectors are short where this is the algorithm of choice. */
	alignas(max_align_t) unsigned char near[SHORT_BYTES];
	bool is_short = tensor.bytes <= sizeof near && !coll->op->phantom;
	void *scratch = is_short ? near : NULL;
	enum dist_error error = DIST_OK;

	if (coll->world_size == 1)
		return DIST_OK;
	if (fold.rank >= 0 && !is_short)
		error = dist__scratch_new(coll, tensor.bytes, &scratch);
	if (!error)
		error = dist__fold_in(coll, &fold, 0, tensor, scratch);
	if (!error && fold.rank >= 0)
		error = doubling(coll, &fold, scratch);
	if (!error)
		error = dist__fold_out(coll, &fold, last_step, tensor);
	if (!is_short)
		free(scratch);
	return error;
}

/* T = log2 p (alpha + n beta + n gamma), p a power of two, as in the paper.
 * Every rank takes the same time, so folding only adds. */
static double cost_all_reduce_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes);
	int steps = dist__log2_ceil(dist__fold_of(0, p).size);

	return dist__fold_in_cost_ns(cost, p, n) +
	       dist__fold_out_cost_ns(cost, p, n) +
	       steps * (dist__cost_message(cost, n) +
			dist__cost_reduce(cost, n));
}

DIST__ALGORITHM(recursive_doubling, all_reduce, ALL_REDUCE,
		"recursive_doubling",
		"log2 p steps, the whole vector sent at each",
		"log2 p (alpha + n beta + n gamma)", .flow = NULL);
