/* memory.h - what a rank of a layout holds at its peak, by part and stage. */
#ifndef LOCKSTEP_MODEL_LLM_MEMORY_H
#define LOCKSTEP_MODEL_LLM_MEMORY_H

#include "model/llm/work.h"

/* Bytes of one GPU of a stage, at its peak. */
struct llm_memory {
	int stage;
	double parameters;
	double gradients;
	double optimizer;
	double activations; /* of all micro-batches in flight */
	double temporary;   /* logits, gathered layers, a layer at work */
	double allocated;   /* these five: PyTorch's max_memory_allocated */
	double library;     /* NCCL's buffers, CUDA's context */
	double slack;       /* what the allocator loses */
	double total;       /* all: what nvidia-smi shows */
	double least;       /* all, once the allocator has given back what it
			     * can */
	double capacity;
	bool fits;  /* least within capacity */
	bool tight; /* so, but with less than LLM_HEADROOM of it to spare */
};

/* Share of the capacity. Nine of ten of 115 jobs measured took at most so much
 * more than llm_memory_worst says (lockstep validate --llm --tsv: memory_gib
 * and measured_gib). */
#define LLM_HEADROOM 0.07

/* llm_memory_stage answers for one stage, llm_memory_worst for the fullest. */
void llm_memory_stage(struct llm_memory *memory, const struct llm_work *work,
		      const struct llm_device *device, int stage);
void llm_memory_worst(struct llm_memory *memory, const struct llm_work *work,
		      const struct llm_device *device);

/* llm_memory_has_room says whether it fits, and is not tight, where the layout
 * minds. */
bool llm_memory_has_room(const struct llm_memory *memory,
			 const struct llm_layout *layout);

/* llm_in_flight returns how many micro-batches' activations of a chunk a stage
 * holds at most. */
int llm_in_flight(const struct llm_layout *layout, int stage, int chunk);

/*
 * llm_recompute_choose replaces RECOMPUTE_AUTO by the least that has room:
 * none, selective where attention is not fused, full of as few layers as do;
 * full of all where nothing has. Errors: those of llm_work_init.
 */
DIST_MUST_CHECK enum dist_error
llm_recompute_choose(struct llm_layout *layout,
		     const struct llm_architecture *model,
		     const struct llm_device *device,
		     const struct llm_pace *pace, struct dist_message *message);

#endif
