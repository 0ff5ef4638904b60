/* efficiency.h - what kernels were measured to reach of a GPU's peaks. */
#ifndef LOCKSTEP_MODEL_LLM_EFFICIENCY_H
#define LOCKSTEP_MODEL_LLM_EFFICIENCY_H

#include "model/llm/device.h"

struct llm_efficiency {
	double gemm[LLM_PRECISIONS]; /* share of the peak that a product
				      * reaches whose shape costs nothing */
	double forward, backward;    /* attention, of the 16-bit peak */
};

/*
 * llm_efficiency_load reads what kernels reach on kin[0]; where nothing was
 * measured there, on the others in their order, which device->assumed then
 * says. kin[0] is device. Errors: INVALID_ARGUMENT (message: "file:line: what
 * was expected"), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_efficiency_load(struct llm_device *device,
		    const struct llm_device *const *kin, size_t num,
		    struct dist_message *message);

/* llm_gemm_shape returns which share of its best rate a product of this shape
 * reaches on device, the memory's bandwidth aside: 0 to 1. */
double llm_gemm_shape(const struct llm_device *device,
		      enum llm_precision precision,
		      const struct llm_gemm *gemm);

#endif
