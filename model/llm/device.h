/*
 * device.h - a GPU: peaks by precision, memory, the measured efficiency of
 * kernels, and the time of kernels.
 *
 * Times are ns, rates FLOP/s and bytes/s, sizes bytes.
 */
#ifndef LOCKSTEP_MODEL_LLM_DEVICE_H
#define LOCKSTEP_MODEL_LLM_DEVICE_H

#include "lockstep/dist.h"

/* The precision of matrix products. */
enum llm_precision {
	LLM_BF16,
	LLM_FP16,
	LLM_FP8,   /* of Hopper: one scale for a tensor or block */
	LLM_MXFP8, /* one scale for 32 elements */
	LLM_FP4,   /* NVFP4, MXFP4 */
	LLM_TF32,
	LLM_FP32,
	LLM_PRECISIONS
};

/* llm_precision_name returns "bf16" and so on; llm_precision_find the
 * precision called name, or LLM_PRECISIONS. */
const char *llm_precision_name(enum llm_precision precision);
enum llm_precision llm_precision_find(const char *name);

/* What makes attention: the fastest library that was measured on a GPU;
 * FlashAttention 2, as PyTorch's SDPA and flash-attn have it, which knows
 * nothing of Hopper's own instructions; FlashAttention 1 of 2022, and Triton's
 * of 2023; kernel by kernel, through memory. */
enum llm_attention_library {
	LLM_FASTEST,
	LLM_FLASH_2,
	LLM_FLASH_1,
	LLM_UNFUSED,
	LLM_ATTENTION_LIBRARIES
};

/* GPUs of one architecture. */
enum llm_generation {
	LLM_VOLTA,
	LLM_AMPERE,
	LLM_HOPPER,
	LLM_BLACKWELL,
	LLM_CDNA,
	LLM_GRAPHICS /* parts for graphics, of Turing to Blackwell, of which
			no steps were fitted */
};

/* llm_generation_of returns that of the device of this name; of one that is not
 * known LLM_HOPPER. */
enum llm_generation llm_generation_of(const char *name);

struct llm_efficiency; /* of measured tables; owned by the device */

struct llm_device {
	char name[64];               /* "H100-SXM" */
	double peak[LLM_PRECISIONS]; /* dense; 0: not supported, or not known */
	double memory_bytes;
	double memory_Bps; /* as its vendor states */
	double copy_share; /* share of it that single-pass kernels reach */
	double link_Bps;   /* all links to GPUs of the node, each way */
	double host_Bps;   /* to its host's memory, each way; 0: not known */
	int sms;
	double l2_bytes;
	double power_w;
	double exp_rate;    /* exponentials a second; 0: not known */
	char gemm_gpu[64];  /* the GPU whose measured GEMMs are used: itself if
			       it has some */
	double power_ratio; /* watts per peak FLOP/s, over gemm_gpu's; no more
			       than products can use */
	bool far;  /* gemm_gpu is of another architecture, or held back by power
		      where this one is not */
	bool seen; /* constants.h was fitted to steps of it, too */
	double launch_ns; /* of a kernel, if nothing hides it */
	struct llm_efficiency *efficiency;
	char note[192];    /* what else to know about it; "": nothing */
	char assumed[192]; /* what was not measured on it: "attention and memory
			      as on B200"; "": nothing */
	char source[192];
};

/*
 * llm_device_find reads the GPU called name from the catalogue (data file
 * "measured/hardware/devices.tsv") and what kernels reach on it (gemm.tsv,
 * attention.tsv and kernels.tsv beside it). A name is a kind ("H100", "rtx
 * 4090"), a form (SXM, PCIe, NVL), a size ("80GB", within 8 %), a kind of
 * memory ("HBM2e") and a power ("500W"), separated by spaces, '-' or '_', the
 * kind first. Case and the vendor's name are ignored, so that names that
 * nvidia-smi prints ("NVIDIA A100-SXM4-80GB") are accepted. A kind alone means
 * its SXM form with the largest memory. llm_device_release frees what device
 * holds. Errors: INVALID_ARGUMENT (no such GPU; message: those of that kind, or
 * near names; a table that is not legal: "file:line: what was expected"), IO,
 * NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error llm_device_find(struct llm_device *device,
						const char *name,
						struct dist_message *message);
void llm_device_release(struct llm_device *device);

/* llm_device_published is llm_device_find without what kernels reach, which
 * takes most of its time: nothing of device is to be released. */
DIST_MUST_CHECK enum dist_error
llm_device_published(struct llm_device *device, const char *name,
		     struct dist_message *message);

/* llm_device_is_kind returns whether the GPU called name has the kind and form
 * in asked, of any memory size; without a form asked means SXM.
 * llm_device_name_gb returns the memory size in a name; 0: none. */
bool llm_device_is_kind(const char *name, const char *asked);
double llm_device_name_gb(const char *name);

/* llm_device_list reads the whole catalogue, which llm_device_list_release
 * frees; without what kernels reach unless `reached`. Errors: as
 * llm_device_find. */
DIST_MUST_CHECK enum dist_error llm_device_list(struct llm_device **devices,
						size_t *num, bool reached,
						struct dist_message *message);
void llm_device_list_release(struct llm_device *devices, size_t num);

/* llm_device_can refuses a precision without a peak on device. Errors:
 * INVALID_ARGUMENT (message: those that it has). */
DIST_MUST_CHECK enum dist_error llm_device_can(const struct llm_device *device,
					       enum llm_precision precision,
					       struct dist_message *message);

/*
 * The share of the device's measured kernel rates that kernels reach within a
 * step: factors fitted to measured steps; 1: as measured alone. From
 * model/llm/constants.h.
 */
struct llm_pace {
	double gemm;      /* of the rate of GEMMs */
	double attention; /* of attention */
	double memory;    /* of element-wise kernels */
};

/* One GEMM of [m, k] by [k, n], `batch` of them in one launch (experts; 1). */
struct llm_gemm {
	double m, n, k;
	double batch;
	bool accumulate; /* adds its result in fp32 to memory: weight gradients
			    into Megatron's main gradients */
};

/*
 * llm_gemm_ns returns the time of a GEMM: FLOP at the sustained rate of a hot
 * GPU, tiles that do not fill the SMs, bytes beyond the L2, and launch_ns
 * (kernels.c states the formula and its error). 0 for a GEMM without work.
 * Casting operands to 8 bits is not included. The device must have a peak in
 * precision.
 */
double llm_gemm_ns(const struct llm_device *device,
		   enum llm_precision precision, const struct llm_pace *pace,
		   const struct llm_gemm *gemm);

/* Attention of `batch` sequences: queries of `seq` tokens over `keys` tokens
 * (equal to seq, except with context parallelism or a window). */
struct llm_attention {
	double batch, seq, keys;
	double heads, kv_heads, qk_dim, v_dim;
	bool causal;
	enum llm_attention_library library;
};

/*
 * llm_attention_ns returns the forward, or the backward pass, which makes the
 * scores again; under recipes of 8 and 4 bits in 16. The fastest library is the
 * first that was measured there of Transformer Engine, cuDNN and
 * FlashAttention. Unfused has Megatron's fused mask and softmax: PyTorch's own
 * masks cost five passes over the scores more.
 */
double llm_attention_ns(const struct llm_device *device,
			enum llm_precision precision,
			const struct llm_pace *pace,
			const struct llm_attention *attention, bool backward);

/* llm_memory_ns returns the time of `kernels` launches that read and write
 * `bytes` in all. */
double llm_memory_ns(const struct llm_device *device,
		     const struct llm_pace *pace, double bytes, int kernels);

/* llm_optimizer_ns returns the time of Adam over a rank's parameters, from the
 * bytes that it reads and writes: master copy and two moments (4 bytes each),
 * gradient (gradient_bytes), and the written parameter (parameter_bytes). */
double llm_optimizer_ns(const struct llm_device *device,
			const struct llm_pace *pace, double parameters,
			int gradient_bytes, int parameter_bytes);

#endif
