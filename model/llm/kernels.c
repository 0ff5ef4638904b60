/*
 * kernels.c - how long the kernels of a training step take on a GPU.
 *
 * A product: launch + (compute^1.18 + memory^1.18)^(1/1.18).
 *	compute  FLOP / (peak x level x shape). Level is what the GPU keeps up
 *		 for long, at the clock that its power allows. Shape is under
 *		 1 where the SMs wait for each other: tiles in whole waves, a
 *		 prologue of each tile as of 180 steps along k, smaller tiles
 *		 that compute 0.9 and 0.62 as fast; but a GPU that waits is
 *		 cooler and clocks 1.15 times as fast. Many products in one
 *		 launch reach 0.92 of one.
 *	memory	 bytes beyond half of the L2, at 0.85 of the bandwidth.
 * Fitted to every second shape of measured/hardware/gemm.tsv ("calibration");
 * tests/unit/llm_kernels.c holds it to the others.
 */
#include "model/llm/kernels.h"

#include <math.h>

/* ---- products --------------------------------------------------------- */

#define OVERLAP     1.18
#define PROLOGUE    180.0
#define HEADROOM    1.15
#define GROUPED     0.92
#define STREAM      0.85 /* of the bandwidth: HBM copies of kernels.tsv */
#define L2_OPERANDS 0.5

static const struct {
	double rows, columns, rate;
} tiles[] = {
	{256, 128, 1},   {128, 256, 1},   {128, 128, 0.9},
	{64, 128, 0.62}, {128, 64, 0.62}, {64, 64, 0.62},
};

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

/* Which share of its level a product reaches, 1 at most. */
static double shape_of(const struct llm_device *device,
		       const struct llm_gemm *gemm)
{
	double best = 0, depth = gemm->k / (gemm->k + PROLOGUE);

	for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
		double area = tiles[i].rows * tiles[i].columns;
		double num = ceil(gemm->m / tiles[i].rows) *
			     ceil(gemm->n / tiles[i].columns) * gemm->batch;
		double waves = ceil(num / device->sms);

		best = fmax(best, tiles[i].rate * gemm->m * gemm->n *
					  gemm->batch /
					  (area * waves * device->sms));
	}
	return fmin(1, HEADROOM * best * depth) *
	       (gemm->batch > 1 ? GROUPED : 1);
}

static double product_memory_ns(const struct llm_device *device,
				enum llm_precision precision,
				const struct llm_gemm *gemm)
{
	double size = element_bytes(precision);
	double written = gemm->accumulate ? 8 : fmax(size, 2);
	double bytes = gemm->batch * (size * gemm->k * (gemm->m + gemm->n) +
				      written * gemm->m * gemm->n);

	return 1e9 * fmax(0, bytes - L2_OPERANDS * device->l2_bytes) /
	       (STREAM * device->memory_Bps);
}

static double product_flops(const struct llm_gemm *gemm)
{
	return 2 * gemm->m * gemm->n * gemm->k * gemm->batch;
}

double llm_gemm_ns(const struct llm_device *device,
		   enum llm_precision precision, const struct llm_pace *pace,
		   const struct llm_gemm *gemm)
{
	double flops = product_flops(gemm), compute, memory;

	if (flops <= 0)
		return 0;
	compute =
		1e9 * flops /
		(device->peak[precision] * device->efficiency->gemm[precision] *
		 pace->gemm * shape_of(device, gemm));
	memory = product_memory_ns(device, precision, gemm);
	return device->launch_ns +
	       pow(pow(compute, OVERLAP) + pow(memory, OVERLAP), 1 / OVERLAP);
}

double llm_gemm_level(const struct llm_device *device,
		      enum llm_precision precision, const struct llm_gemm *gemm,
		      double ns)
{
	double both = fmax(0, ns - device->launch_ns);
	double memory = product_memory_ns(device, precision, gemm);

	if (both <= memory)
		return 0;
	return 1e9 * product_flops(gemm) /
	       pow(pow(both, OVERLAP) - pow(memory, OVERLAP), 1 / OVERLAP) /
	       (device->peak[precision] * shape_of(device, gemm));
}

/* ---- attention -------------------------------------------------------- */

/*
 * A fused pass works on blocks of 128 queries. Each costs a start as of 140
 * keys, and under a mask half of its own block and what the library wastes
 * there, 110 keys; and at the end SMs wait for the longest block, half of it on
 * average. Heads of 64 compute slower than those of 128. Fitted to every second
 * shape of measured/hardware/attention.tsv, but FlashAttention 1 and Triton.
 */
#define QUERIES       128.0
#define BLOCK_START   140.0
#define MASK_WASTE    110.0
#define TAIL          0.49
#define SMALL_HEADS   0.81 /* of 64 and less, against 128 */
#define LARGE_HEADS   1.05 /* of 256 */
#define UNLIKE        0.89 /* values smaller than keys: MLA */
#define UNLIKE_BEHIND 0.77 /* backward */

/* A gradient of attention does five products for the forward's two: the scores
 * again, and one of each of dQ, dK, dV and dP (T. Dao, "FlashAttention-2",
 * 2023, section 3). */
#define BACKWARD 2.5

/* Passes of unfused attention over its scores: the product writes them, mask
 * and softmax read and write them, the second product reads them. Backward
 * twice of that. Measured on H100 without a mask ("unfused"): 5 passes forward,
 * 10 backward, the products among them. */
#define SCORE_PASSES 4
#define SCORE_BYTES  2

static double head_rate(const struct llm_attention *attention, double products)
{
	if (attention->qk_dim != attention->v_dim)
		return products == BACKWARD ? UNLIKE_BEHIND : UNLIKE;
	if (attention->qk_dim <= 64)
		return SMALL_HEADS;
	return attention->qk_dim >= 256 ? LARGE_HEADS : 1;
}

/* The FLOP that it would take to do in this time without any loss. */
static double fused_flops(const struct llm_device *device,
			  const struct llm_attention *attention,
			  double products)
{
	double keys = attention->keys;
	double seen = attention->causal ? keys / 2 + MASK_WASTE : keys;
	double rows = attention->batch * attention->heads * attention->seq;
	double tail = TAIL * fmin(device->sms * QUERIES, rows);

	return 2 * products * (attention->qk_dim + attention->v_dim) *
	       (rows * (seen + BLOCK_START) + tail * (keys + BLOCK_START)) /
	       head_rate(attention, products);
}

/* The peak that attention computes at: 16 bits under recipes of fewer, which
 * keep its products in bf16. */
static double attention_peak(const struct llm_device *device,
			     enum llm_precision precision)
{
	if (precision == LLM_TF32 || precision == LLM_FP32)
		return device->peak[precision];
	return fmax(device->peak[LLM_BF16], device->peak[LLM_FP16]);
}

static double unfused_ns(const struct llm_device *device,
			 enum llm_precision precision,
			 const struct llm_pace *pace,
			 const struct llm_attention *attention, bool backward)
{
	double scores = attention->batch * attention->heads * attention->seq *
			attention->keys;
	double flops = 2 * scores * (attention->qk_dim + attention->v_dim) *
		       (backward ? 2 : 1);
	double rate = attention_peak(device, precision) * pace->gemm *
		      device->efficiency->gemm[precision];

	return 1e9 * flops / rate +
	       llm_memory_ns(device, pace,
			     scores * SCORE_BYTES * SCORE_PASSES *
				     (backward ? 2 : 1),
			     backward ? 6 : 3);
}

double llm_attention_ns(const struct llm_device *device,
			enum llm_precision precision,
			const struct llm_pace *pace,
			const struct llm_attention *attention, bool backward)
{
	const enum llm_attention_library library = attention->library;

	if (attention->batch * attention->heads * attention->seq *
		    attention->keys <=
	    0)
		return 0;
	if (library == LLM_UNFUSED)
		return unfused_ns(device, precision, pace, attention, backward);
	return device->launch_ns +
	       1e9 * fused_flops(device, attention, backward ? BACKWARD : 1) /
		       (attention_peak(device, precision) * pace->attention *
			(backward ? device->efficiency->backward[library]
				  : device->efficiency->forward[library]));
}

double llm_attention_level(const struct llm_device *device,
			   const struct llm_attention *attention,
			   double products, double ns)
{
	return 1e9 * fused_flops(device, attention, products) /
	       (attention_peak(device, LLM_BF16) *
		fmax(1, ns - device->launch_ns));
}

/* ---- memory ----------------------------------------------------------- */

double llm_memory_ns(const struct llm_device *device,
		     const struct llm_pace *pace, double bytes, int kernels)
{
	return 1e9 * bytes /
		       (device->memory_Bps * device->copy_share *
			pace->memory) +
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
