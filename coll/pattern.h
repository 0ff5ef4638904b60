/*
 * pattern.h - what the algorithms are made of: chunks, spans, messages, local
 * reductions. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_PATTERN_H
#define LOCKSTEP_COLL_PATTERN_H

#include "core/algorithm.h"

/*
 * numel elements in count chunks, one a rank, in order. No chunk is more than
 * one element longer than another; the longer ones come first. Chunks may be
 * empty.
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

/* A run of whole elements, of the op's tensor or of scratch memory. data is
 * NULL for a phantom. */
struct dist__span {
	void *data;
	size_t bytes;
};

/* dist__span_tensor returns the op's whole tensor. */
struct dist__span dist__span_tensor(const struct dist__coll *coll);

/* dist__span_chunks returns count chunks of the op's tensor, from the chunk
 * numbered first. */
struct dist__span dist__span_chunks(const struct dist__coll *coll,
				    const struct dist__chunks *chunks,
				    int first, int count);

/*
 * dist__scratch_new stores in *scratch memory for bytes, which the caller
 * frees: NULL, and nothing to free, for a phantom or for 0 bytes. To be called
 * once per collective, not per step: a world may have thousands of ranks.
 * Errors: NO_MEMORY.
 */
enum dist_error dist__scratch_new(const struct dist__coll *coll, size_t bytes,
				  void **scratch);

/*
 * dist__send and dist__recv pass one message between two ranks of the group
 * and block until it has arrived. step tells apart the messages of one op
 * between the same two ranks. Errors: those of the transport.
 */
enum dist_error dist__send(const struct dist__coll *coll, uint32_t step, int to,
			   struct dist__span out);
enum dist_error dist__recv(const struct dist__coll *coll, uint32_t step,
			   int from, struct dist__span in);

/*
 * dist__exchange sends out and receives in at the same time; out and in do not
 * overlap. Blocks until both have arrived; after an error neither memory is in
 * use any more. Errors: those of the transport, the receive's first.
 */
enum dist_error dist__exchange(const struct dist__coll *coll, uint32_t step,
			       int to, struct dist__span out, int from,
			       struct dist__span in);

/* dist__combine reduces in into acc, of the same length: acc = acc op in.
 * Phantoms only take their time. */
void dist__combine(const struct dist__coll *coll, struct dist__span acc,
		   struct dist__span in);

/* dist__log2_ceil returns the number of doublings from 1 to at least n. */
static inline int dist__log2_ceil(int n)
{
	int rounds = 0;

	while (rounds < 31 && (INT64_C(1) << rounds) < n)
		rounds++;
	return rounds;
}

/*
 * The terms of a cost formula: one message of so many bytes whose receiver is
 * not the later one, and the local reduction of them. The formulas in the heads
 * of the algorithms write alpha for overhead and alpha together.
 */
static inline double dist__cost_message(const struct dist__cost *cost,
					double bytes)
{
	return cost->overhead_ns + cost->alpha_ns +
	       bytes * cost->beta_ns_per_byte;
}

static inline double dist__cost_reduce(const struct dist__cost *cost,
				       double bytes)
{
	return bytes * cost->gamma_ns_per_byte;
}

#endif
