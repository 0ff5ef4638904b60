/*
 * constants.h - constants of a language model's step that no closed form gives,
 * the same for all models, machines and layouts. The table in constants.c
 * states the source of each; those with a spread were fitted to the rows of
 * scenarios/measured/llm (lockstep validate, docs/accuracy.md).
 */
#ifndef LOCKSTEP_MODEL_LLM_CONSTANTS_H
#define LOCKSTEP_MODEL_LLM_CONSTANTS_H

#include "model/llm/device.h"

/* How kernels are launched. */
enum llm_software {
	LLM_GRAPHED, /* CUDA graphs or a compiler, fused kernels: today's
			software */
	LLM_EAGER,   /* kernel by kernel from Python: before 2026, or without
			these */
	LLM_TUNED,   /* tuned for one model and machine, as in MLPerf */
	LLM_OLD,     /* DeepSpeed of 2022: as LLM_EAGER, by libraries whose
		      * products want aligned widths */
	LLM_SOFTWARES
};

enum llm_constant {
	/* The share of a GEMM's rate, measured alone, that it reaches in a
	 * step. */
	LLM_GEMM_VOLTA,
	LLM_GEMM_AMPERE,
	LLM_GEMM_HOPPER,
	LLM_GEMM_HOPPER_FP8,
	LLM_GEMM_BLACKWELL,
	LLM_GEMM_BLACKWELL_FP8,
	LLM_GEMM_BLACKWELL_MXFP8,
	LLM_GEMM_BLACKWELL_FP4,
	LLM_GEMM_CDNA,  /* measured in fp8 alone */
	LLM_GEMM_TUNED, /* factor on that with LLM_TUNED */
	LLM_GEMM_OLD,   /* factor on that with LLM_OLD */
	LLM_UNALIGNED,  /* factor on that with LLM_OLD if a width divided by tp
			   is no multiple of 128 bytes */
	LLM_ODD_HEAD,   /* factor on the time of unfused attention if heads are
			   no multiple of 16 bytes wide: no tensor cores */
	LLM_ATTENTION_SHARE,
	LLM_MEMORY_SHARE,
	LLM_BESIDE_LOSS, /* share lost of the time that a call and computing
			    overlap */
	LLM_TP_EXPOSED,  /* exposed share of a call cut into pieces beside a
			    GEMM */
	LLM_EP_EXPOSED,  /* exposed share of an exchange beside another
			    micro-batch */
	LLM_DP_BESIDE,   /* share of a pass with which calls of parameters can
			    overlap */
	LLM_ACCUMULATE_BYTES, /* bytes a parameter to accumulate its gradient */
	LLM_ACCUMULATE_OLD,   /* the same with LLM_OLD: added to the GEMM */
	LLM_HOST_DENSE_NS,    /* to launch the kernels of a layer, forward and
				 backward */
	LLM_HOST_EXPERT_NS,
	LLM_HOST_PART_NS, /* and for each part more of a layer: step.c */
	LLM_EXPERT_EAGER, /* factor on element-wise kernels of layers with
			     experts before they were fused */
	LLM_STEP_NS,      /* once a step: gradient norm, data, logs */
	LLM_TENSOR_NS,    /* once a step and tensor of a rank, where ranks share
			     the optimizer's state */
	LLM_JITTER,       /* share of a step for each doubling beyond one node
			   */
	LLM_SPREAD_DENSE, /* eight of ten dense steps (or with experts) are
			     within this factor, blind */
	LLM_SPREAD_EXPERTS,
	LLM_SPREAD_UNSEEN_DENSE, /* of GPUs that constants were not fitted to */
	LLM_SPREAD_UNSEEN_EXPERTS,
	LLM_SPREAD_FAR, /* with a device's `far` */
	LLM_CONSTANTS
};

struct llm_constants {
	double value[LLM_CONSTANTS];
};

struct llm_constant_row {
	const char *name;
	double value;
	double start;  /* prior, before any row, */
	double spread; /* within a factor of exp(spread); 0: not fitted */
	const char *source;
};

/* llm_constant_rows returns LLM_CONSTANTS rows; llm_constants_known returns
 * their values. */
const struct llm_constant_row *llm_constant_rows(void);
const struct llm_constants *llm_constants_known(void);

/* llm_constants_pace returns the pace that software reaches on device in that
 * precision. */
struct llm_pace llm_constants_pace(const struct llm_constants *constants,
				   const struct llm_device *device,
				   enum llm_precision precision,
				   enum llm_software software);

#endif
