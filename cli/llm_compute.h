/* llm_compute.h - what kernels of a step took on a GPU of one's own: read from
 * a profile of the step, and turned into what that GPU reaches. */
#ifndef LOCKSTEP_CLI_LLM_COMPUTE_H
#define LOCKSTEP_CLI_LLM_COMPUTE_H

#include "cli/llm_question.h"

/* Kinds of kernels that each have a rate. */
enum llm_class {
	LLM_CLASS_GEMM,
	LLM_CLASS_ATTENTION, /* fused */
	LLM_CLASS_MEMORY,    /* all else: element-wise, optimizer */
	LLM_CLASSES,
	LLM_CLASS_CALL = LLM_CLASSES /* of a library of calls: left out */
};

/* llm_compute_class tells by its name which a kernel is: those of PyTorch,
 * Inductor, cuBLAS, CUTLASS, cuDNN, FlashAttention, Transformer Engine, NCCL,
 * and of ROCm's libraries. *forward: a forward pass of attention. */
enum llm_class llm_compute_class(const char *kernel, bool *forward);

/*
 * llm_compute_open reads request->compute for question, whose model, machine
 * and device are known, and sets question->own: the pace at which the step of
 * request->compute_layout takes as long as was measured, by class. Errors:
 * INVALID_ARGUMENT (message: the file cannot be used, and why: "file: what was
 * expected"), IO, NO_MEMORY; *option names the option.
 */
DIST_MUST_CHECK enum dist_error llm_compute_open(struct llm_question *question,
						 const char **option,
						 struct dist_message *message);

#endif
