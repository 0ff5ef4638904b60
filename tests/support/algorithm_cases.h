/*
 * algorithm_cases.h - every algorithm of coll/ on the loop transport, held
 * against arithmetic. Without a test framework, so that the thread sanitizer
 * can walk it too.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_ALGORITHM_CASES_H
#define LOCKSTEP_TESTS_SUPPORT_ALGORITHM_CASES_H

#include "tests/support/loop_transport.h"

/* How ranks sit on nodes: each on its own, in threes, dealt out to three, all
 * on one, scattered over nodes of different sizes. */
enum { ALGORITHM_LAYOUTS = 5 };

/* One collective to be run: what a group would make of one call. */
struct algorithm_case {
	const struct dist__algorithm *algorithm;
	int world_size;
	struct dist_tensor tensor; /* of this rank */
	struct dist__parts in, out;
	enum dist_reduce_op reduce_op;
	int root;
	uint32_t seq;         /* modulo ALGORITHM_LAYOUTS: the layout */
	size_t segment_bytes; /* 0: the default */
};

/* Memory for a case that has parts; NULL: phantoms. */
struct algorithm_memory {
	void *one; /* numel elements */
	void *in;  /* numel elements for each rank */
	void *out; /* likewise */
};

/* algorithm_case_shape gives c, of which algorithm, world_size and root are
 * set, tensors for rank: numel elements, or numel for each rank where the
 * operation has parts. Returns the elements that it is about. */
size_t algorithm_case_shape(struct algorithm_case *c, int rank, size_t numel,
			    enum dist_dtype dtype,
			    const struct algorithm_memory *memory);

/* algorithm_case_run runs it on one rank and returns what the algorithm did.
 * Group rank r has the global rank world_size - 1 - r, so that confusing the
 * two shows. rank is the group rank. */
enum dist_error algorithm_case_run(const struct algorithm_case *c,
				   struct dist__transport *transport, int rank);

/* algorithm_cases_group_rank returns the group rank of a loop rank. */
static inline int algorithm_cases_group_rank(int loop_rank, int world_size)
{
	return world_size - 1 - loop_rank;
}

struct algorithm_outcome {
	unsigned cases;
	unsigned failures;
	char first[256]; /* the first failure, in words */
};

/*
 * algorithm_cases_walk runs the table on world_size ranks: algorithm x count x
 * dtype x op x root. Checked are the result of every rank, that all ranks of an
 * all-reduce hold the same bytes, also where floats do not add up exactly, and
 * that nothing is written outside the tensor.
 */
struct algorithm_outcome algorithm_cases_walk(int world_size);

#endif
