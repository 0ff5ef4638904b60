/* efficiency.h - the share of GPUs' peaks that measured kernels reach. */
#ifndef LOCKSTEP_MODEL_LLM_EFFICIENCY_H
#define LOCKSTEP_MODEL_LLM_EFFICIENCY_H

#include "base/tsv_table.h"
#include "model/llm/kernels.h"

/* A row of gemm.tsv; texts are the table's. */
struct llm_gemm_row {
	const char *use; /* "calibration", "validation" */
	const char *gpu, *kind, *layout, *accumulate, *from;
	enum llm_precision precision;
	struct llm_gemm gemm;
	double tflops;
	double ns;
};

/* A row of attention.tsv. */
struct llm_attention_row {
	const char *use, *gpu, *implementation, *approximate, *from;
	enum llm_precision precision;
	struct llm_attention attention;
	double products; /* multiple of the forward pass's FLOP */
	bool half;
	double tflops;
	double ns;
};

/* A row of kernels.tsv. */
struct llm_kernel_row {
	const char *gpu, *what, *unit, *from;
	double value;
};

/* The tables of kernels. */
struct llm_measured {
	struct tsv_table gemm, attention, kernels;
	struct llm_gemm_row *gemm_rows;
	struct llm_attention_row *attention_rows;
	struct llm_kernel_row *kernel_rows;
};

/* llm_measured_load reads the tables; llm_measured_release frees them. Errors:
 * INVALID_ARGUMENT (message: "file:line: what was expected"), IO, NO_MEMORY;
 * then there is nothing to release. */
DIST_MUST_CHECK enum dist_error llm_measured_load(struct llm_measured *measured,
						  struct dist_message *message);
void llm_measured_release(struct llm_measured *measured);

/* llm_is_burst returns whether a row is from a loop too short for the GPU to
 * get as hot as in training: it is too fast to use. */
bool llm_is_burst(const struct llm_gemm_row *row);

/*
 * llm_efficiency_set stores the efficiency of kernels on device: medians of the
 * rows of kin[0], which is device or its substitute; without rows, those of the
 * next in kin, which device->assumed then states. only: NULL, or the `use` of
 * the rows to take. Errors: NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_efficiency_set(struct llm_device *device,
		   const struct llm_device *const *kin, size_t num,
		   const struct llm_measured *measured, const char *only);

#endif
