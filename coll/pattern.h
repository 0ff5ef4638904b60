/*
 * pattern.h - what the algorithms are made of: chunks, spans, messages, local
 * reductions. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_PATTERN_H
#define LOCKSTEP_COLL_PATTERN_H

#include "coll/algorithm.h"

/* A run of whole elements, of the op's tensor or of scratch memory. data is
 * NULL for a phantom. */
struct dist__span {
	void *data;
	size_t bytes;
};

/* dist__span_tensor returns the op's whole tensor. */
struct dist__span dist__span_tensor(const struct dist__coll *coll);

/* dist__span_part returns the part numbered rank. */
struct dist__span dist__span_part(const struct dist__coll *coll,
				  const struct dist__parts *parts, int rank);

/* dist__span_parts returns count parts of one tensor, from the part numbered
 * first. Not for a list. */
struct dist__span dist__span_parts(const struct dist__coll *coll,
				   const struct dist__parts *parts, int first,
				   int count);

/* dist__copy copies from to to, of the same length; the two may be the same
 * memory. Phantoms are left alone. */
void dist__copy(struct dist__span to, struct dist__span from);

/* dist__charge_copy accounts for bytes that were copied, or would have been but
 * for phantoms, from memory of the rank to other memory of it: not where the
 * two may be the same, which of phantoms nobody knows. */
void dist__charge_copy(const struct dist__coll *coll, size_t bytes);

/*
 * dist__scratch_new stores in *scratch memory for bytes, which the caller
 * frees: NULL, and nothing to free, for a phantom or for 0 bytes. To be called
 * once per collective, not per step: a world may have thousands of ranks.
 * Errors: NO_MEMORY.
 */
enum dist_error dist__scratch_new(const struct dist__coll *coll, size_t bytes,
				  void **scratch);

/* Parts in one run of memory, whatever form the op's have. */
struct dist__packed {
	struct dist__parts parts; /* one tensor */
	void *scratch;            /* to be freed; NULL: the op's own memory */
};

/*
 * dist__packed_new makes room for parts of the lengths of those given;
 * dist__packed_of does so for a list only and otherwise gives the parts
 * themselves. Errors: NO_MEMORY.
 */
enum dist_error dist__packed_new(const struct dist__coll *coll,
				 const struct dist__parts *parts,
				 struct dist__packed *packed);
enum dist_error dist__packed_of(const struct dist__coll *coll,
				const struct dist__parts *parts,
				struct dist__packed *packed);

/* dist__parts_copy copies every part of from to that of to, of the same
 * length; the two may be the same memory. */
void dist__parts_copy(const struct dist__coll *coll,
		      const struct dist__parts *to,
		      const struct dist__parts *from);

/* dist__message_of returns the message of span between this rank and peer of
 * the group, in a step of the op. */
struct dist__message dist__message_of(const struct dist__coll *coll,
				      uint32_t step, int peer,
				      struct dist__span span);

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

/* What becomes of a message that is added up: sum = mine op message, where the
 * two are the same memory, else sum = message op mine. All have the same
 * length. */
struct dist__addition {
	struct dist__span sum, mine;
	void *scratch; /* of dist__sum_scratch_new; not for two memories */
};

/* dist__sum_scratch_new is dist__scratch_new for messages of so many bytes that
 * are added up in place; NULL where the transport does it by itself. */
enum dist_error dist__sum_scratch_new(const struct dist__coll *coll,
				      size_t bytes, void **scratch);

/* dist__recv_sum and dist__exchange_sum are dist__recv and dist__exchange of a
 * message that is added up; out does not overlap sum. Errors: theirs. */
enum dist_error dist__recv_sum(const struct dist__coll *coll, uint32_t step,
			       int from, const struct dist__addition *addition);
enum dist_error dist__exchange_sum(const struct dist__coll *coll, uint32_t step,
				   int to, struct dist__span out, int from,
				   const struct dist__addition *addition);

/*
 * dist__exchange_all sends every other rank its part of out and receives its
 * part of in, all at the same time; the two do not overlap. Blocks until all
 * have arrived; after an error no memory is in use any more. Errors: those of
 * the transport, the first in the order receives, sends; NO_MEMORY.
 */
enum dist_error dist__exchange_all(const struct dist__coll *coll, uint32_t step,
				   const struct dist__parts *out,
				   const struct dist__parts *in);

/* dist__send_all sends out to every other rank, beginning on the right hand,
 * and receives from each its part of in, unless that is NULL, all at the same
 * time; then as dist__exchange_all. */
enum dist_error dist__send_all(const struct dist__coll *coll, uint32_t step,
			       struct dist__span out,
			       const struct dist__parts *in);

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

/*
 * Every rank sends p - 1 messages of so many bytes at once, to all others:
 * alpha + (p - 1) n beta, when they cost no overhead. In general message k sets
 * out after k overheads. The link never idles with a message to carry, however
 * it is shared out, and so ends with the last message that finds it idle, the
 * first or the last one.
 */
static inline double dist__cost_all_at_once(const struct dist__cost *cost,
					    int p, double bytes)
{
	double carry_ns = bytes * cost->beta_ns_per_byte;
	double overhead_ns = cost->overhead_ns;

	if (p == 1)
		return 0;
	return cost->alpha_ns + overhead_ns + carry_ns +
	       (p - 2) * (overhead_ns > carry_ns ? overhead_ns : carry_ns);
}

#endif
