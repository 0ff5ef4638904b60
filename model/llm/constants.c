/* constants.c - the numbers, and where they are from. */
#include "model/llm/constants.h"

#define FITTED "fitted to scenarios/measured/llm"
#define GPU_BLIND                                                              \
	"lockstep validate --llm --blind --tsv: gpu_blind_ratio of eight of "  \
	"ten steps, on eight of ten GPUs"

/* clang-format off: a row a line; name, value, start, spread. Products alone are
 * measured on an idle GPU at its full clock; NCCL takes 16 to 32 of 108 to 148
 * SMs, a channel each: beside_loss. */
#define TABLE(X)                                                               \
	X(LLM_GEMM_VOLTA, "gemm_volta", 0.825, 0.95, 0.15, FITTED)             \
	X(LLM_GEMM_AMPERE, "gemm_ampere", 0.914, 0.95, 0.15, FITTED)           \
	X(LLM_GEMM_HOPPER, "gemm_hopper", 1.02, 0.95, 0.15, FITTED)            \
	X(LLM_GEMM_HOPPER_FP8, "gemm_hopper_fp8", 0.973, 0.95, 0.15, FITTED)   \
	X(LLM_GEMM_BLACKWELL, "gemm_blackwell", 0.916, 0.95, 0.15, FITTED)     \
	X(LLM_GEMM_BLACKWELL_FP8, "gemm_blackwell_fp8", 0.998, 0.95, 0.15,     \
	  FITTED)                                                              \
	X(LLM_GEMM_BLACKWELL_MXFP8, "gemm_blackwell_mxfp8", 0.989, 0.95, 0.15, \
	  FITTED)                                                              \
	X(LLM_GEMM_BLACKWELL_FP4, "gemm_blackwell_fp4", 0.965, 0.95, 0.15,     \
	  FITTED)                                                              \
	X(LLM_GEMM_CDNA, "gemm_cdna", 0.936, 0.95, 0.15, FITTED)               \
	X(LLM_GEMM_TUNED, "gemm_tuned", 1.09, 1.1, 0.1, FITTED)                \
	X(LLM_GEMM_OLD, "gemm_old", 0.87, 0.9, 0.1, FITTED)                    \
	X(LLM_UNALIGNED, "unaligned", 0.934, 0.9, 0.2, FITTED)                 \
	X(LLM_ODD_HEAD, "odd_head", 6, 6, 0,                                   \
	  "fp16 rate of A100 without tensor cores, 78 of 312 TFLOP/s, and "    \
	  "softmax unfused (Megatron-LM fused_softmax.py)")                    \
	X(LLM_ATTENTION_SHARE, "attention", 0.96, 0.95, 0.15, FITTED)          \
	X(LLM_MEMORY_SHARE, "memory", 0.748, 0.9, 0.15, FITTED)                \
	X(LLM_BESIDE_LOSS, "beside_loss", 0.147, 0.15, 0.3, FITTED)            \
	X(LLM_TP_EXPOSED, "tp_exposed", 0.387, 0.45, 0.3, FITTED)              \
	X(LLM_EP_EXPOSED, "ep_exposed", 0.63, 0.63, 0,                         \
	  "github.com/NVIDIA-NeMo/Megatron-Bridge "                            \
	  "skills/nemo-mbridge-perf-moe-comm-overlap: 36.6 % hidden")          \
	X(LLM_DP_BESIDE, "dp_beside", 0.828, 0.8, 0.2, FITTED)                 \
	X(LLM_ACCUMULATE_BYTES, "accumulate_bytes", 4.46, 6, 0.3, FITTED)      \
	X(LLM_ACCUMULATE_OLD, "accumulate_old", 11.4, 10, 0.5, FITTED)         \
	X(LLM_HOST_DENSE_NS, "host_dense_ns", 2.6e+06, 2.6e6, 0,               \
	  "scenarios/measured/hardware/torch-steps-h100.tsv: launch_ms of "    \
	  "gpt2 --flash, 12 layers")                                           \
	X(LLM_HOST_EXPERT_NS, "host_expert_ns", 8.69e+06, 8.0e6, 0.3, FITTED)  \
	X(LLM_HOST_PART_NS, "host_part_ns", 2.10e+06, 2e6, 0.5, FITTED)        \
	X(LLM_EXPERT_EAGER, "expert_eager", 1.95, 1.6, 0.4, FITTED)            \
	X(LLM_STEP_NS, "step_ns", 1.05e+07, 8e6, 0.7, FITTED)                  \
	X(LLM_TENSOR_NS, "tensor_ns", 1.26e+05, 100e3, 0.7, FITTED)            \
	X(LLM_JITTER, "jitter", 0.00292, 0.003, 0.7, FITTED)                   \
	X(LLM_SPREAD_DENSE, "spread_dense", 1.12, 1.12, 0,                     \
	  "lockstep validate --llm --blind: eight of ten")                     \
	X(LLM_SPREAD_EXPERTS, "spread_experts", 1.19, 1.19, 0,                 \
	  "lockstep validate --llm --blind: eight of ten")                     \
	X(LLM_SPREAD_UNSEEN_DENSE, "spread_unseen_dense", 1.16, 1.16, 0,       \
	  GPU_BLIND)                                                           \
	X(LLM_SPREAD_UNSEEN_EXPERTS, "spread_unseen_experts", 1.25, 1.25, 0,   \
	  GPU_BLIND)                                                           \
	X(LLM_SPREAD_FAR, "spread_far", 1.3, 1.3, 0,                           \
	  "lockstep validate --llm llmq: eight of ten")

#define ROW(constant, name, value, start, spread, source)                      \
	[constant] = {name, value, start, spread, source},
#define VALUE(constant, name, number, start, spread, source)                   \
	[constant] = (number),
/* clang-format on */

static const struct llm_constant_row rows[LLM_CONSTANTS] = {TABLE(ROW)};
static const struct llm_constants known = {{TABLE(VALUE)}};

const struct llm_constant_row *llm_constant_rows(void)
{
	return rows;
}

const struct llm_constants *llm_constants_known(void)
{
	return &known;
}

/* ---- pace -------------------------------------------------------------- */

static enum llm_constant gemm_of(enum llm_generation generation,
				 enum llm_precision precision)
{
	bool eight = precision == LLM_FP8 || precision == LLM_MXFP8 ||
		     precision == LLM_FP4;

	switch (generation) {
	case LLM_VOLTA:
		return LLM_GEMM_VOLTA;
	case LLM_AMPERE:
		return LLM_GEMM_AMPERE;
	case LLM_CDNA:
		return LLM_GEMM_CDNA;
	case LLM_BLACKWELL:
		return precision == LLM_FP8     ? LLM_GEMM_BLACKWELL_FP8
		       : precision == LLM_MXFP8 ? LLM_GEMM_BLACKWELL_MXFP8
		       : precision == LLM_FP4   ? LLM_GEMM_BLACKWELL_FP4
						: LLM_GEMM_BLACKWELL;
	default:
		return eight ? LLM_GEMM_HOPPER_FP8 : LLM_GEMM_HOPPER;
	}
}

struct llm_pace llm_constants_pace(const struct llm_constants *constants,
				   const struct llm_device *device,
				   enum llm_precision precision,
				   enum llm_software software)
{
	const double *value = constants->value;
	const enum llm_generation generation = llm_generation_of(device->name);
	struct llm_pace pace = {.gemm = value[gemm_of(generation, precision)],
				.attention = value[LLM_ATTENTION_SHARE],
				.memory = value[LLM_MEMORY_SHARE]};

	/* What was measured on a GPU has that GPU's power in it. Where power
	 * bounds the clock, a FLOP takes as much energy at any: voltage is at
	 * its least. */
	if (generation == llm_generation_of(device->gemm_gpu) ||
	    generation == LLM_GRAPHICS)
		pace.gemm *= device->power_ratio;
	if (software == LLM_TUNED)
		pace.gemm *= value[LLM_GEMM_TUNED];
	if (software == LLM_OLD)
		pace.gemm *= value[LLM_GEMM_OLD];
	return pace;
}
