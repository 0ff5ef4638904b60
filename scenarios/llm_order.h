/*
 * llm_order.h - the order in which a stage of a pipeline works on its model
 * chunks and micro-batches.
 *
 * gpipe	all forward, then all backward (Y. Huang et al., "GPipe",
 *		NeurIPS 2019)
 * 1f1b		one forward, one backward, after as many forward as there are
 *		stages behind (D. Narayanan et al., "Memory-Efficient
 *		Pipeline-Parallel DNN Training", ICML 2021: PipeDream-Flush);
 *		of several chunks interleaved, as many micro-batches of a chunk
 *		at a time as there are stages (D. Narayanan et al., "Efficient
 *		Large-Scale Language Model Training on GPU Clusters", SC 2021,
 *		section 2.2; Megatron-LM, core/pipeline_parallel/schedules.py:
 *		get_pp_rank_microbatches, get_schedule_table)
 * zero-bubble	1f1b, with the weights' part of backward apart, as many
 *		micro-batches later as the stage's number (P. Qi et al., "Zero
 *		Bubble Pipeline Parallelism", ICLR 2024: ZB-H1; so too
 *		torch.distributed.pipelining's schedules)
 *
 * Stage 1 of 3 with 4 micro-batches:
 *
 *	gpipe		F0 F1 F2 F3 B0 B1 B2 B3
 *	1f1b		F0 F1 B0 F2 B1 F3 B2 B3
 *	zero-bubble	F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3
 *
 * With f, b and w the times of a micro-batch on a stage in forward and the two
 * parts of backward, m micro-batches on p stages of v chunks take m (f + b + w)
 * and a bubble: (p - 1) (f + b + w) with gpipe and 1f1b, (p - 1) (f + b + w) /
 * v interleaved, (p - 1) (f + b - w) with zero-bubble.
 */
#ifndef LOCKSTEP_SCENARIOS_LLM_ORDER_H
#define LOCKSTEP_SCENARIOS_LLM_ORDER_H

#include "model/llm/layout.h"

enum llm_way { LLM_FORWARD, LLM_BACKWARD, LLM_WEIGHTS };

/* One piece of a stage's work. */
struct llm_action {
	enum llm_way way;
	int chunk;
	int micro_batch;
	int exchange; /* number of its exchange with other stages, which brings
			 its input and then takes its output; never falls. In
			 interleaved 1f1b a forward and a backward share one */
};

/* A pipeline as one stage sees it. */
struct llm_order {
	enum llm_schedule schedule;
	int stages, stage;
	int chunks; /* of a stage */
	int num;    /* micro-batches */
};

/* llm_order_size returns the number of actions of a stage. */
size_t llm_order_size(const struct llm_order *order);

/* llm_order_fill writes the actions. */
void llm_order_fill(const struct llm_order *order, struct llm_action *actions);

#endif
