/*
 * pattern.h - the building blocks of algorithms: chunks, spans, messages, local
 * reductions. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_PATTERN_H
#define LOCKSTEP_COLL_PATTERN_H

#include "coll/algorithm.h"

/* Consecutive whole elements, of the op's tensor or of scratch memory. data is
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

/* dist__copy copies from to to, of the same length; both may be the same
 * memory. Does nothing for phantoms. */
void dist__copy(struct dist__span to, struct dist__span from);

/* dist__charge_copy charges a copy of bytes within the rank's memory, also for
 * phantoms. Not for copies whose ends may be the same memory, which is unknown
 * of phantoms. */
void dist__charge_copy(const struct dist__coll *coll, size_t bytes);

/*
 * dist__scratch_new stores in *scratch memory for bytes, which the caller
 * frees; NULL for a phantom or 0 bytes. Call it once per collective, not per
 * step: a world may have thousands of ranks. Errors: NO_MEMORY.
 */
enum dist_error dist__scratch_new(const struct dist__coll *coll, size_t bytes,
				  void **scratch);

/* Parts in consecutive memory, also if the op's parts are a list. */
struct dist__packed {
	struct dist__parts parts; /* one tensor */
	void *scratch;            /* the caller frees it; NULL: op's memory */
};

/*
 * dist__packed_new allocates parts of the same lengths as parts.
 * dist__packed_of does so only for a list, else returns parts themselves.
 * Errors: NO_MEMORY.
 */
enum dist_error dist__packed_new(const struct dist__coll *coll,
				 const struct dist__parts *parts,
				 struct dist__packed *packed);
enum dist_error dist__packed_of(const struct dist__coll *coll,
				const struct dist__parts *parts,
				struct dist__packed *packed);

/* dist__parts_copy copies every part of from to the same part of to, of equal
 * length; both may be the same memory. */
void dist__parts_copy(const struct dist__coll *coll,
		      const struct dist__parts *to,
		      const struct dist__parts *from);

/* dist__message_of returns a message of the op that holds span, between this
 * rank and rank peer of the group, in step. */
struct dist__message dist__message_of(const struct dist__coll *coll,
				      uint32_t step, int peer,
				      struct dist__span span);

/*
 * dist__send and dist__recv pass one message between two ranks of the group
 * and block until it has arrived. step distinguishes the messages of one op
 * between the same two ranks. Errors: those of the transport.
 */
enum dist_error dist__send(const struct dist__coll *coll, uint32_t step, int to,
			   struct dist__span out);
enum dist_error dist__recv(const struct dist__coll *coll, uint32_t step,
			   int from, struct dist__span in);

/*
 * dist__exchange sends out and receives in at the same time; out and in do not
 * overlap. Blocks until both have arrived; after an error neither memory is
 * used any more. Errors: those of the transport, the receive's first.
 */
enum dist_error dist__exchange(const struct dist__coll *coll, uint32_t step,
			       int to, struct dist__span out, int from,
			       struct dist__span in);

/* How to add up a received message: sum = mine op message if sum and mine are
 * the same memory, else sum = message op mine. All have the same length. */
struct dist__addition {
	struct dist__span sum, mine;
	void *scratch; /* of dist__sum_scratch_new, if sum is mine */
};

/* dist__sum_scratch_new is dist__scratch_new for messages of so many bytes that
 * are added up in place; NULL if the transport combines on receipt. */
enum dist_error dist__sum_scratch_new(const struct dist__coll *coll,
				      size_t bytes, void **scratch);

/* dist__recv_sum and dist__exchange_sum are dist__recv and dist__exchange of a
 * message that is added up; out does not overlap sum. Same errors. */
enum dist_error dist__recv_sum(const struct dist__coll *coll, uint32_t step,
			       int from, const struct dist__addition *addition);
enum dist_error dist__exchange_sum(const struct dist__coll *coll, uint32_t step,
				   int to, struct dist__span out, int from,
				   const struct dist__addition *addition);

/*
 * dist__exchange_all sends each other rank its part of out and receives its
 * part of in, all at the same time, in step 0; out and in do not overlap.
 * Blocks until all have arrived; after an error no memory is used any more.
 * Errors: those of the transport, of receives before sends; NO_MEMORY.
 */
enum dist_error dist__exchange_all(const struct dist__coll *coll,
				   const struct dist__parts *out,
				   const struct dist__parts *in);

/* dist__send_all sends out to each other rank, first to the next rank, and
 * receives from each its part of in, if not NULL, all at the same time.
 * Otherwise as dist__exchange_all. */
enum dist_error dist__send_all(const struct dist__coll *coll,
			       struct dist__span out,
			       const struct dist__parts *in);

/* dist__combine reduces in into acc, of the same length: acc = acc op in.
 * For phantoms it only charges the time. */
void dist__combine(const struct dist__coll *coll, struct dist__span acc,
		   struct dist__span in);

/* dist__log2_ceil returns the least k with 2^k >= n. */
static inline int dist__log2_ceil(int n)
{
	int rounds = 0;

	while (rounds < 31 && (INT64_C(1) << rounds) < n)
		rounds++;
	return rounds;
}

/*
 * The terms of a cost formula: a message of so many bytes whose receiver is
 * ready first, and the local reduction of them. The formulas in the heads of
 * the algorithms write alpha for overhead + alpha.
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
 * Every rank sends p - 1 messages of so many bytes at once, to all others. The
 * time is alpha + (p - 1) n beta without overhead. With it message k starts
 * after k overheads. The link is never idle while there is a message to carry,
 * however messages share it. So it ends with the last message that finds it
 * idle: the first one or the last one.
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
