/*
 * llm_case.h - of a measured row of a language model what a prediction asks
 * for: model, layout, GPU, machine; with what its source does not publish
 * assumed by rules, which the .c file states.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_LLM_CASE_H
#define LOCKSTEP_MODEL_VALIDATION_LLM_CASE_H

#include "model/library/fabric.h"
#include "model/llm/step.h"
#include "model/measured/llm.h"

struct llm_case {
	const struct llm_row *row; /* borrowed, as source */
	const char *source;        /* name of its table */
	struct llm_architecture model;
	struct llm_layout layout;
	char gpu[64]; /* its name in the catalogue of devices */
	struct fabric fabric;
	enum llm_software software;
	double remade;
	double scale;       /* of its step: batch as mended over the row's */
	double measured_ns; /* a step */
	bool guessed;       /* what it recomputes was assumed */
	char why[160];      /* it cannot be judged; "": it can */
};

/* llm_case_make makes the case of row; recipes has num of their tables. What is
 * wrong with it stands in why. */
void llm_case_make(struct llm_case *made, const struct llm_row *row,
		   const char *source, const struct llm_recipes *recipes,
		   size_t num);

/* llm_case_place tells a case its GPU: links, and the measured step where that
 * is published as a share of the peak. What it cannot stands in why. */
void llm_case_place(struct llm_case *made, const struct llm_device *device);

/* llm_case_states sets the bytes of a parameter that its framework holds, in a
 * case whose row, model and precision are set. */
void llm_case_states(struct llm_case *made);

/* llm_case_same_model returns whether two rows are of one source, model, GPU
 * and precision. */
bool llm_case_same_model(const struct llm_case *a, const struct llm_case *b);

/* llm_case_memory returns what of memory the row's source counts: what
 * nvidia-smi shows of Megatron-DeepSpeed, what PyTorch allocated of Megatron's
 * other users, what it reserved of others. */
double llm_case_memory(const struct llm_case *made,
		       const struct llm_memory *memory);

#endif
