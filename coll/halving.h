/*
 * halving.h - reduce-scatter by recursive halving, the first half of three
 * algorithms, on ranks folded to a power of two (fold.h). Private to coll/.
 *
 * The vector is cut into chunks, one a number or one a rank. Partners half the
 * world apart exchange the half of their chunks that the other one keeps, then
 * a quarter of the world apart, until each number has summed up its own.
 */
#ifndef LOCKSTEP_COLL_HALVING_H
#define LOCKSTEP_COLL_HALVING_H

#include "coll/fold.h"

struct dist__halving {
	const struct dist__coll *coll;
	struct dist__fold fold;
	struct dist__parts vector; /* one tensor: a chunk a number, or a rank */
	uint32_t step;             /* of the next message */
};

/* dist__halving_block returns the chunks that number has in common with the
 * size - 1 others of its block: those of size numbers, from number rounded down
 * to a multiple of size. */
struct dist__span dist__halving_block(const struct dist__halving *h, int number,
				      int size);

/* dist__halving_whole returns the whole vector. */
struct dist__span dist__halving_whole(const struct dist__halving *h);

/* dist__halving_scatter_sums folds in, and leaves every number the sum of its
 * chunks in their place in the vector, whose other chunks it spoils. Scratch
 * memory: half the vector, or all of it to fold in. Errors: those of the
 * transport; NO_MEMORY. */
enum dist_error dist__halving_scatter_sums(struct dist__halving *h);

/* What the cost of all numbers depends on. */
struct dist__halving_model {
	const struct dist__cost *cost;
	struct dist__fold fold;
	struct dist__chunks chunks;
	int count; /* of chunks */
	size_t element_bytes;
	double fold_in_ns;
};

/* dist__halving_model_of describes p ranks that fold in and cut numel elements
 * into a chunk a number, or a rank. */
struct dist__halving_model dist__halving_model_of(const struct dist__cost *cost,
						  int p, bool by_number,
						  size_t numel,
						  size_t element_bytes);

/* dist__halving_bytes returns the bytes of the block of size numbers that
 * number is in. */
double dist__halving_bytes(const struct dist__halving_model *m, int number,
			   int size);

/* dist__halving_arrival_ns returns when the message arrives that brings number
 * its block; the sender was ready at sender_ns, the receiver at ready_ns. */
double dist__halving_arrival_ns(const struct dist__halving_model *m,
				double sender_ns, double ready_ns, int number,
				int size);

/* dist__halving_reduced_ns returns when number has reduced its block of size
 * numbers: a recurrence of as many terms as there are such blocks. */
double dist__halving_reduced_ns(const struct dist__halving_model *m, int number,
				int size);

#endif
