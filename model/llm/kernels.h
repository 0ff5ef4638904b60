/* kernels.h - the laws by which kernels take time, turned round: what they
 * reach of the peak where their time was measured. */
#ifndef LOCKSTEP_MODEL_LLM_KERNELS_H
#define LOCKSTEP_MODEL_LLM_KERNELS_H

#include "model/llm/device.h"

struct llm_efficiency {
	double gemm[LLM_PRECISIONS]; /* share of the peak that a hot GPU keeps
				      * up in large products */
	/* Of the 16-bit peak, attention by libraries that fuse it. */
	double forward[LLM_UNFUSED], backward[LLM_UNFUSED];
};

/* llm_gemm_level returns the gemm[precision] at which gemm takes ns on device;
 * 0: its bytes alone take as long. */
double llm_gemm_level(const struct llm_device *device,
		      enum llm_precision precision, const struct llm_gemm *gemm,
		      double ns);

/* llm_attention_level returns the share at which a fused pass takes ns that
 * does `products` times the forward's FLOP: 1, 2.5 backward, 3.5 both. */
double llm_attention_level(const struct llm_device *device,
			   const struct llm_attention *attention,
			   double products, double ns);

#endif
