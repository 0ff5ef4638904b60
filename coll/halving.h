/*
 * halving.h - reduce-scatter by recursive halving, the first half of three
 * algorithms, on ranks folded to a power of two (fold.h). Private to coll/.
 *
 * The vector is cut into chunks, one for each number or each rank. Partners
 * half the world apart exchange the half of their chunks that the other one
 * keeps, then a quarter of the world apart, until each has its own sums.
 */
#ifndef LOCKSTEP_COLL_HALVING_H
#define LOCKSTEP_COLL_HALVING_H

#include "coll/fold.h"

struct dist__halving {
	const struct dist__coll *coll;
	struct dist__fold fold;
	struct dist__parts vector; /* one tensor, cut by number or by rank */
	uint32_t step;             /* of the next message */
};

/* dist__halving_block returns the chunks of the block of size numbers that
 * number is in: the block begins at number rounded down to a multiple of
 * size. */
struct dist__span dist__halving_block(const struct dist__halving *h, int number,
				      int size);

/* dist__halving_whole returns the whole vector. */
struct dist__span dist__halving_whole(const struct dist__halving *h);

/* dist__halving_scatter_sums folds in, and stores in each number's chunks of
 * the vector their sums; its other chunks become invalid. Scratch memory: half
 * the vector, or all of it to fold in. Errors: those of the transport;
 * NO_MEMORY. */
enum dist_error dist__halving_scatter_sums(struct dist__halving *h);

/* The inputs of the cost, the same for all numbers. */
struct dist__halving_model {
	const struct dist__cost *cost;
	struct dist__fold fold;
	struct dist__chunks chunks;
	int count; /* of chunks */
	size_t element_bytes;
	double fold_in_ns;
};

/* dist__halving_model_of describes p ranks that fold in and cut numel elements
 * into a chunk for each number, or for each rank. */
struct dist__halving_model dist__halving_model_of(const struct dist__cost *cost,
						  int p, bool by_number,
						  size_t numel,
						  size_t element_bytes);

/* dist__halving_bytes returns the bytes of the block of size numbers that
 * includes number. */
double dist__halving_bytes(const struct dist__halving_model *m, int number,
			   int size);

/* dist__halving_arrival_ns returns when number receives its block; the sender
 * was ready at sender_ns, the receiver at ready_ns. */
double dist__halving_arrival_ns(const struct dist__halving_model *m,
				double sender_ns, double ready_ns, int number,
				int size);

/* dist__halving_reduced_ns returns when number has reduced its block of size
 * numbers, by recursion over the larger blocks. */
double dist__halving_reduced_ns(const struct dist__halving_model *m, int number,
				int size);

#endif
