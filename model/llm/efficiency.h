/* efficiency.h - what kernels were measured to reach of GPUs' peaks. */
#ifndef LOCKSTEP_MODEL_LLM_EFFICIENCY_H
#define LOCKSTEP_MODEL_LLM_EFFICIENCY_H

#include "base/tsv_table.h"
#include "model/llm/kernels.h"

/* A row of gemm.tsv; text is the table's. */
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
	double products; /* of the forward's FLOP */
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

/* llm_measured_load reads them; llm_measured_release frees what they hold.
 * Errors: INVALID_ARGUMENT (message: "file:line: what was expected"), IO,
 * NO_MEMORY; nothing is to be released then. */
DIST_MUST_CHECK enum dist_error llm_measured_load(struct llm_measured *measured,
						  struct dist_message *message);
void llm_measured_release(struct llm_measured *measured);

/* llm_is_burst says that a row is of a loop that ended before the GPU was as
 * hot as it is in training: faster, and no evidence of its level. */
bool llm_is_burst(const struct llm_gemm_row *row);

/*
 * llm_efficiency_set stores what kernels reach on device: the medians of what
 * was measured on kin[0], which is device or stands for it; where nothing was
 * measured there, on the others in their order, which device->assumed then
 * says. only: NULL, or the use of the rows that it may look at. Errors:
 * NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_efficiency_set(struct llm_device *device,
		   const struct llm_device *const *kin, size_t num,
		   const struct llm_measured *measured, const char *only);

#endif
