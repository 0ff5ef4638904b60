/*
 * partition.h - a data set dealt out to the ranks, as DataPartitioner of
 * "Writing Distributed Applications with PyTorch" does it: all ranks shuffle
 * the numbers of the samples by the same seed, and each uses its part.
 */
#ifndef LOCKSTEP_TUTORIAL_PARTITION_H
#define LOCKSTEP_TUTORIAL_PARTITION_H

#include <stddef.h>
#include <stdint.h>

/* Some of the samples: their numbers, which stay in the shuffled list. */
struct partition {
	const size_t *index;
	size_t num;
};

/* partition_shuffle fills index with the numbers from 0 to num - 1, in an order
 * that seed and epoch decide. */
void partition_shuffle(size_t *index, size_t num, uint64_t seed,
		       uint64_t epoch);

/* partition_use returns what lies between two fractions, 0 to 1, of a list of
 * samples. Where one part ends the next begins: none is lost. */
struct partition partition_use(const size_t *index, size_t num, double from,
			       double to);

#endif
