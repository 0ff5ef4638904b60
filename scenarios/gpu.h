/*
 * gpu.h - the speed and memory of a GPU, from its vendor (the catalogue of
 * model/llm/device.h) and from measurements: measured/hardware/gpus.tsv.
 */
#ifndef LOCKSTEP_SCENARIOS_GPU_H
#define LOCKSTEP_SCENARIOS_GPU_H

#include "lockstep/dist.h"

/* The first known one is the default. */
enum gpu_precision { GPU_AMP, GPU_TF32, GPU_FP32, GPU_PRECISIONS };

/*
 * The share of the peak that training is assumed to reach if no rate was
 * measured: BERT-large reaches 0.42 on a V100 and 0.44 on an A100, on one GPU
 * in mixed precision (gpus.tsv). Convolutional networks reach less.
 */
#define GPU_ASSUMED_SHARE 0.4

struct gpu_rate {
	double flops;   /* FLOP/s; 0: not known */
	char text[128]; /* what it is: "H100-SXM bf16 peak" */
};

struct gpu {
	char name[64];                            /* as given; "": no GPU */
	struct gpu_rate peaks[GPU_PRECISIONS];    /* as published */
	struct gpu_rate measured[GPU_PRECISIONS]; /* training this model */
	double memory_bytes;                      /* 0: not known */
	char unknown[224]; /* why no peak is known; "": peaks are known */
};

/*
 * gpu_find stores what is known of the GPU called name (a name of
 * llm_device_find) when it trains model. Of a GPU that is not in the catalogue
 * only its name is used. Errors: DIST_ERR_INVALID_ARGUMENT (message: the table
 * of rates cannot be read), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error gpu_find(struct gpu *gpu, const char *name,
					 const char *model,
					 struct dist_message *message);

/*
 * gpu_choose stores the rate at which gpu trains in precision ("fp32", "tf32",
 * "amp"; NULL: the first known one): as measured, else GPU_ASSUMED_SHARE of its
 * peak. rate->text continues a figure: " achieved by A100 ...", ", assumed: 0.4
 * of ...". Errors: DIST_ERR_INVALID_ARGUMENT (neither is known; message lists
 * what is known, or the GPUs).
 */
DIST_MUST_CHECK enum dist_error gpu_choose(const struct gpu *gpu,
					   const char *precision,
					   struct gpu_rate *rate,
					   struct dist_message *message);

/* gpu_peak returns the highest published peak of gpu in precision (NULL: in
 * any); NULL if there is none. */
const struct gpu_rate *gpu_peak(const struct gpu *gpu, const char *precision);

#endif
