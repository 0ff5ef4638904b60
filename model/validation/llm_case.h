/*
 * llm_case.h - a measured row of a language model as a case to predict: model,
 * layout, GPU, machine. Facts that its source does not publish are assumed by
 * the rules in the .c file.
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
	double scale;       /* of its step: corrected batch over row's */
	double measured_ns; /* a step */
	bool guessed;       /* its recomputation was assumed */
	char why[160];      /* why it cannot be compared; "": it can */
};

/* llm_case_make makes the case of row, with num tables of recipes. made->why
 * says why it cannot be compared. */
void llm_case_make(struct llm_case *made, const struct llm_row *row,
		   const char *source, const struct llm_recipes *recipes,
		   size_t num);

/* llm_case_place completes a case with its device: links, and the measured step
 * if it is published as a share of the peak. made->why says what is not
 * possible. */
void llm_case_place(struct llm_case *made, const struct llm_device *device);

/* llm_case_same_model returns whether two rows are of one source, model, GPU
 * and precision. */
bool llm_case_same_model(const struct llm_case *a, const struct llm_case *b);

/* llm_case_memory returns what a GPU holds, in bytes, as the row's source
 * counts it: total in nvidia-smi for Megatron-DeepSpeed, allocated by PyTorch
 * for other users of Megatron, reserved by PyTorch for others; of nanotron by
 * rank 0 (src/nanotron/helpers.py, log_throughput), else on the fullest stage.
 * NAN: device lacks the precision. */
double llm_case_memory(const struct llm_case *made,
		       const struct llm_device *device);

#endif
