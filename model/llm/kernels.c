/* kernels.c - how long the kernels of a training step take on a GPU. */
#include <math.h>

#include "model/llm/efficiency.h"

/* A gradient of attention does five products for the forward's two: the scores
 * again, and one of each of dQ, dK, dV and dP (T. Dao, "FlashAttention-2",
 * 2023, section 3). */
#define BACKWARD 2.5

/* Passes of unfused attention over its scores, of 2 bytes: written by the
 * product, read and written by mask and softmax and dropout each, read by the
 * second product; the gradient as often again and once more for dP. */
#define SCORE_PASSES          8
#define SCORE_PASSES_BACKWARD 10

#define SCORE_BYTES 2

static double element_bytes(enum llm_precision precision)
{
	switch (precision) {
	case LLM_FP4:
		return 0.5;
	case LLM_FP8:
	case LLM_MXFP8:
		return 1;
	case LLM_TF32:
	case LLM_FP32:
		return 4;
	default:
		return 2;
	}
}

static double memory_rate(const struct llm_device *device,
			  const struct llm_pace *pace)
{
	return device->memory_Bps * device->copy_share * pace->memory;
}

double llm_gemm_ns(const struct llm_device *device,
		   enum llm_precision precision, const struct llm_pace *pace,
		   const struct llm_gemm *gemm)
{
	double flops = 2 * gemm->m * gemm->n * gemm->k * gemm->batch;
	double rate = device->peak[precision] *
		      device->efficiency->gemm[precision] * pace->gemm *
		      llm_gemm_shape(device, precision, gemm);
	double size = element_bytes(precision);
	double bytes = gemm->batch * (size * gemm->k * (gemm->m + gemm->n) +
				      fmax(size, 2) * gemm->m * gemm->n);

	if (flops <= 0)
		return 0;
	return 1e9 * fmax(flops / rate, bytes / memory_rate(device, pace)) +
	       device->launch_ns;
}

/* The peak that attention computes at: 16 bits under 8-bit recipes, which keep
 * its products in bf16. */
static double attention_peak(const struct llm_device *device,
			     enum llm_precision precision)
{
	if (precision == LLM_TF32 || precision == LLM_FP32)
		return device->peak[precision];
	return fmax(device->peak[LLM_BF16], device->peak[LLM_FP16]);
}

double llm_attention_ns(const struct llm_device *device,
			enum llm_precision precision,
			const struct llm_pace *pace,
			const struct llm_attention *attention, bool backward)
{
	double scores = attention->batch * attention->heads * attention->seq *
			attention->keys;
	double flops = 2 * scores * (attention->qk_dim + attention->v_dim) *
		       (backward ? BACKWARD : 1);
	double rate = attention_peak(device, precision) * pace->attention *
		      (backward ? device->efficiency->backward
				: device->efficiency->forward);

	if (flops <= 0)
		return 0;
	if (!attention->fused)
		return 1e9 * flops /
			       (attention_peak(device, precision) *
				device->efficiency->gemm[LLM_BF16]) +
		       llm_memory_ns(device, pace,
				     scores * SCORE_BYTES *
					     (backward ? SCORE_PASSES_BACKWARD
						       : SCORE_PASSES),
				     4);
	return 1e9 * flops / (attention->causal ? 2 : 1) / rate +
	       device->launch_ns;
}

double llm_memory_ns(const struct llm_device *device,
		     const struct llm_pace *pace, double bytes, int kernels)
{
	return 1e9 * bytes / memory_rate(device, pace) +
	       kernels * device->launch_ns;
}

double llm_optimizer_ns(const struct llm_device *device,
			const struct llm_pace *pace, double parameters,
			int gradient_bytes, int parameter_bytes)
{
	/* Reads gradient, master, two moments; writes all but the gradient,
	 * and the parameter. */
	double bytes = gradient_bytes + 3 * 4 + 3 * 4 +
		       (parameter_bytes < 4 ? parameter_bytes : 0);

	return llm_memory_ns(device, pace, parameters * bytes, 1);
}
