/*
 * parts.h - the parts of a tensor, or of a list of tensors, one for each rank.
 */
#ifndef LOCKSTEP_CORE_PARTS_H
#define LOCKSTEP_CORE_PARTS_H

#include "lockstep/dist.h"

/*
 * numel elements in count chunks, one for each rank, in order. Lengths differ
 * by at most one element; the longer chunks come first. Chunks may be empty.
 */
struct dist__chunks {
	size_t base;  /* elements of a shorter chunk */
	size_t extra; /* number of chunks of base + 1 elements */
};

static inline struct dist__chunks dist__chunks_of(size_t numel, int count)
{
	return (struct dist__chunks){.base = numel / (size_t)count,
				     .extra = numel % (size_t)count};
}

/* dist__chunks_numel returns the elements in the first n chunks together. */
static inline size_t dist__chunks_numel(const struct dist__chunks *chunks,
					int n)
{
	size_t count = (size_t)n;

	return count * chunks->base +
	       (count < chunks->extra ? count : chunks->extra);
}

/*
 * A part for each of count ranks, numbered by rank: a list of tensors, or one
 * tensor that is cut into parts. The functions below hide which. list and
 * splits are the caller's, borrowed until the op is done.
 */
struct dist__parts {
	int count;                      /* 0: no parts */
	const struct dist_tensor *list; /* NULL: whole is cut */
	struct dist_tensor whole;       /* unless list */
	const size_t *splits; /* elements of each part; NULL: in chunks */
};

/* dist__part returns the part numbered rank, and dist__part_numel its
 * elements. */
struct dist_tensor dist__part(const struct dist__parts *parts, int rank);
size_t dist__part_numel(const struct dist__parts *parts, int rank);

/* dist__parts_before returns the sum of the elements of the parts below rank;
 * of all parts if rank == count. */
size_t dist__parts_before(const struct dist__parts *parts, int rank);

/* dist__parts_longest returns the elements of the longest part. */
size_t dist__parts_longest(const struct dist__parts *parts);

#endif
