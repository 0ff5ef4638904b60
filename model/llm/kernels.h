/* kernels.h - the share of the peak that kernels reach, from their measured
 * times: the inverse of the formulas for their times. */
#ifndef LOCKSTEP_MODEL_LLM_KERNELS_H
#define LOCKSTEP_MODEL_LLM_KERNELS_H

#include "model/llm/device.h"

struct llm_efficiency {
	double gemm[LLM_PRECISIONS]; /* share of the peak that a hot GPU
					sustains in large GEMMs */
	/* Of the 16-bit peak, attention by libraries that fuse it. */
	double forward[LLM_UNFUSED], backward[LLM_UNFUSED];
};

/* llm_gemm_level returns the gemm[precision] at which gemm takes ns on device;
 * 0: reading and writing its bytes already takes that long. */
double llm_gemm_level(const struct llm_device *device,
		      enum llm_precision precision, const struct llm_gemm *gemm,
		      double ns);

/* llm_attention_level returns the share at which a fused pass with `products`
 * times the forward's FLOP (forward 1, backward 2.5, both 3.5) takes ns. */
double llm_attention_level(const struct llm_device *device,
			   const struct llm_attention *attention,
			   double products, double ns);

#endif
