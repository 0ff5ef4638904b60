/*
 * llm_states.c - how the framework of a measured row holds what it trains, and
 * what of its memory the source counts.
 */
#include "model/validation/llm_case.h"

#include <math.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

/*
 * DeepSpeed keeps a stage's outputs and, of fp16, a copy of the gradient's
 * shard (stage_1_and_2.py), of bf16 sums in 32 bits beside the gradients
 * (bf16_optimizer.py); nanotron the gradients of a whole backward pass beside
 * the sums (gradient_accumulator.py). NeMo AutoModel trains parameters of 16
 * bits as they are, with moments of 16 bits (torch_dtype bfloat16, AdamW).
 * Moonlight's recipe in Megatron-Bridge has moments in 16 bits. LLM Foundry's
 * loss is flash-attn's unless told otherwise (modeling_mpt.py, loss_fn
 * fused_crossentropy). NeMo 1 stores of 32-bit master copies of bf16 parameters
 * the lower half (megatron_base_model.py, store_param_remainders).
 */
void llm_case_states(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;

	if (begins(row->framework, "Megatron-DeepSpeed")) {
		l->keep_outputs = true;
		if (l->precision == LLM_FP16)
			l->state_bytes = 16;
		else
			l->copy_bytes = 4;
	}
	if (begins(row->framework, "nanotron")) {
		l->even_matrices = true;
		l->piecewise = true;
		l->copy_bytes = 2;
		l->fused_kernels = false;
	}
	if (begins(row->framework, "torchtitan") &&
	    begins(row->overlap, "eager"))
		l->fused_kernels = false;
	if (begins(row->framework, "llm-foundry"))
		l->fused_loss = true;
	if (begins(row->framework, "NeMo/") &&
	    (begins(row->version, "NeMo 24.0") || begins(row->version, "v24")))
		l->state_bytes = 10;
	if (begins(row->framework, "NeMo-AutoModel")) {
		l->gradient_bytes = 2;
		l->state_bytes = 6;
	}
	if (begins(row->framework, "Megatron-Bridge") &&
	    begins(row->model, "Moonlight"))
		l->state_bytes = 8;
}

double llm_case_memory(const struct llm_case *made,
		       const struct llm_device *device)
{
	const char *framework = made->row->framework;
	const struct llm_pace pace = {1, 1, 1};
	struct dist_message message;
	struct llm_memory memory;
	struct llm_work work;

	if (llm_work_init(&work, &made->model, &made->layout, device, &pace,
			  &message))
		return NAN;
	llm_memory_worst(&memory, &work, device);
	if (begins(framework, "Megatron-DeepSpeed"))
		return memory.total;
	if (begins(framework, "Megatron"))
		return memory.allocated;
	if (begins(framework, "nanotron"))
		llm_memory_of_stage(&memory, &work, device, 0);
	return memory.total - memory.library;
}
