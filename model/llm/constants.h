/*
 * constants.h - what no closed form says of a step of a language model: a few
 * numbers for all models, machines and layouts. Where each is from stands in
 * the table of constants.c; those with a spread were fitted to the rows of
 * scenarios/measured/llm (lockstep validate, docs/accuracy.md).
 */
#ifndef LOCKSTEP_MODEL_LLM_CONSTANTS_H
#define LOCKSTEP_MODEL_LLM_CONSTANTS_H

#include "model/llm/device.h"

/* What launches the kernels. */
enum llm_software {
	LLM_GRAPHED, /* CUDA graphs or a compiler, fused kernels: of today */
	LLM_EAGER,   /* kernel by kernel from Python: before 2026, or without */
	LLM_TUNED,   /* for one model and machine, as in MLPerf */
	LLM_OLD,     /* DeepSpeed of 2022: as LLM_EAGER, by libraries whose
		      * products want aligned widths */
	LLM_SOFTWARES
};

enum llm_constant {
	/* Of a GEMM's rate as measured alone, what it reaches in a step. */
	LLM_GEMM_VOLTA,
	LLM_GEMM_AMPERE,
	LLM_GEMM_HOPPER,
	LLM_GEMM_HOPPER_FP8,
	LLM_GEMM_BLACKWELL,
	LLM_GEMM_BLACKWELL_FP8,
	LLM_GEMM_BLACKWELL_MXFP8,
	LLM_GEMM_BLACKWELL_FP4,
	LLM_GEMM_CDNA,
	LLM_GEMM_CDNA_FP8,
	LLM_GEMM_TUNED, /* times that, of LLM_TUNED */
	LLM_GEMM_OLD,   /* times that, of LLM_OLD */
	LLM_UNALIGNED,  /* times that, of LLM_OLD where a width that tp leaves
			 * is no multiple of 128 bytes */
	LLM_ODD_HEAD,   /* unfused attention of heads no multiple of 16 bytes
			 * wide takes so much longer: no tensor cores */
	LLM_POWER,      /* exponent of the ratio of watts a FLOP/s, where
			 * another GPU's products stand for its own */
	LLM_ATTENTION_SHARE,
	LLM_MEMORY_SHARE,
	LLM_BESIDE_LOSS, /* of the time that a call and computing share */
	LLM_TP_EXPOSED,  /* of a call that is cut into pieces beside a GEMM */
	LLM_EP_EXPOSED,  /* of an exchange beside another micro-batch */
	LLM_DP_BESIDE,   /* of a pass, what calls of its parameters have */
	LLM_ACCUMULATE_BYTES, /* a parameter, to add up its gradient */
	LLM_ACCUMULATE_OLD,   /* so too, by LLM_OLD: beside the product */
	LLM_HOST_DENSE_NS,    /* to launch a layer's kernels, both ways */
	LLM_HOST_EXPERT_NS,
	LLM_HOST_MORE,    /* of that, each by which a layer has more kernels */
	LLM_EXPERT_EAGER, /* time of experts' kernels before they were fused */
	LLM_HOST_GRAPHED, /* of that, what is left with CUDA graphs */
	LLM_STEP_NS,      /* once: gradient norm, data, logs */
	LLM_JITTER,       /* of a step, a doubling beyond one node */
	LLM_SPREAD_DENSE, /* eight of ten dense steps are off by a factor of
			   * less, or of experts, blind */
	LLM_SPREAD_EXPERTS,
	LLM_CONSTANTS
};

struct llm_constants {
	double value[LLM_CONSTANTS];
};

struct llm_constant_row {
	const char *name;
	double value;
	double start;  /* what it is thought to be before any row is seen, */
	double spread; /* off by a factor of exp(spread); 0: not fitted */
	const char *source;
};

/* llm_constant_rows returns LLM_CONSTANTS rows; llm_constants_known their
 * values. */
const struct llm_constant_row *llm_constant_rows(void);
const struct llm_constants *llm_constants_known(void);

/* llm_constants_pace returns what software reaches of device in that precision.
 */
struct llm_pace llm_constants_pace(const struct llm_constants *constants,
				   const struct llm_device *device,
				   enum llm_precision precision,
				   enum llm_software software);

#endif
