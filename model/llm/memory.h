/* memory.h - the peak memory of a rank of a layout, by part and stage. */
#ifndef LOCKSTEP_MODEL_LLM_MEMORY_H
#define LOCKSTEP_MODEL_LLM_MEMORY_H

#include "model/llm/work.h"

/* Bytes of one GPU of a stage at its peak. */
struct llm_memory {
	int stage;
	double parameters;
	double gradients;
	double optimizer;
	double activations; /* of all micro-batches in flight */
	double temporary;   /* logits, gathered layers, the running layer */
	double allocated;   /* their sum: PyTorch's max_memory_allocated */
	double library;     /* NCCL's buffers, CUDA's context */
	double slack;       /* fragmentation of the allocator */
	double total;       /* all of these: what nvidia-smi shows */
	double least;       /* total once the allocator frees all it can */
	double capacity;
	bool fits;  /* least within capacity */
	bool tight; /* fits, but with less than LLM_HEADROOM to spare */
};

/* Share of the capacity. Nine of ten of 113 measured jobs took at most 6 % more
 * than predicted (lockstep validate --llm --tsv: memory_gib and measured_gib).
 */
#define LLM_HEADROOM 0.07

/* llm_memory_of_stage computes the memory of one stage. */
void llm_memory_of_stage(struct llm_memory *memory, const struct llm_work *work,
			 const struct llm_device *device, int stage);

/* llm_memory_worst computes the memory of the fullest stage. */
void llm_memory_worst(struct llm_memory *memory, const struct llm_work *work,
		      const struct llm_device *device);

/* llm_memory_has_room returns whether it fits and, unless layout->no_headroom,
 * is not tight. */
bool llm_memory_has_room(const struct llm_memory *memory,
			 const struct llm_layout *layout);

/* llm_in_flight returns for how many micro-batches a stage holds activations of
 * a chunk, at most. */
int llm_in_flight(const struct llm_layout *layout, int stage, int chunk);

/*
 * llm_recompute_choose replaces RECOMPUTE_AUTO by the least recomputation that
 * has room: none; selective, of scores if attention is not fused, else of
 * experts' activations, norms and heads of latents; full for as few layers as
 * possible; full for all layers if nothing has room. Beside overlap_ep it is
 * never full. Errors: those of llm_work_init.
 */
DIST_MUST_CHECK enum dist_error
llm_recompute_choose(struct llm_layout *layout,
		     const struct llm_architecture *model,
		     const struct llm_device *device,
		     const struct llm_pace *pace, struct dist_message *message);

#endif
