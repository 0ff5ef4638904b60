/*
 * micro_batches.h - in which order a stage of a pipeline works on its
 * micro-batches.
 *
 * gpipe	all forward, then all backward (Y. Huang et al., "GPipe",
 *		NeurIPS 2019)
 * 1f1b		one forward, one backward, after as many forward as there are
 *		stages behind (D. Narayanan et al., "Memory-Efficient
 *		Pipeline-Parallel DNN Training", ICML 2021: PipeDream-Flush)
 *
 * Stage 1 of 3 with 4 micro-batches:
 *
 *	gpipe	F0 F1 F2 F3 B0 B1 B2 B3
 *	1f1b	F0 F1 B0 F2 B1 F3 B2 B3
 *
 * Both take (m + p - 1) times what a micro-batch takes on a stage: of p stages
 * each is idle for p - 1 of them. With 1f1b a stage holds the activations of
 * at most p - stage micro-batches, with gpipe those of all.
 */
#ifndef LOCKSTEP_SCENARIOS_MICRO_BATCHES_H
#define LOCKSTEP_SCENARIOS_MICRO_BATCHES_H

#include <stdbool.h>

/* One piece of a stage's work. */
struct micro_batch {
	bool is_forward;
	int index;
};

/* A pipeline, seen from one of its stages. */
struct micro_batches {
	bool one_forward_one_backward; /* else gpipe */
	int stages;
	int stage;
	int num;
};

/* micro_batches_at returns what the stage does in place i of 2 * num. */
struct micro_batch micro_batches_at(const struct micro_batches *order, int i);

#endif
