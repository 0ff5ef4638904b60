/*
 * gpu.h - how fast a GPU computes and how much it holds, as its vendor says
 * (the catalogue of model/llm/device.h) and as others measured:
 * measured/hardware/gpus.tsv.
 */
#ifndef LOCKSTEP_SCENARIOS_GPU_H
#define LOCKSTEP_SCENARIOS_GPU_H

#include "lockstep/dist.h"

/* In this order one is chosen where none is asked for. */
enum gpu_precision { GPU_AMP, GPU_TF32, GPU_FP32, GPU_PRECISIONS };

/*
 * Of the peak, where no rate was measured, that training is assumed to reach:
 * BERT-large reaches 0.42 of it on a V100 and 0.44 on an A100, one GPU in mixed
 * precision (gpus.tsv). Networks of convolutions reach less.
 */
#define GPU_ASSUMED_SHARE 0.4

struct gpu_rate {
	double flops;   /* FLOP/s; 0: not known */
	char text[128]; /* what it is: "H100-SXM bf16 peak" */
};

struct gpu {
	char name[64]; /* as it was asked for; "": no GPU */
	struct gpu_rate peaks[GPU_PRECISIONS];    /* as published */
	struct gpu_rate measured[GPU_PRECISIONS]; /* training this model */
	double memory_bytes;                      /* 0: not known */
	char unknown[224]; /* why no peak is known; "": they are */
};

/*
 * gpu_find stores what is known of the GPU called name, by the words of
 * llm_device_find, training the model of that name. Of a GPU that the catalogue
 * lacks nothing is known but what its name says. Errors:
 * DIST_ERR_INVALID_ARGUMENT (message: the table of rates cannot be read), IO,
 * NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error gpu_find(struct gpu *gpu, const char *name,
					 const char *model,
					 struct dist_message *message);

/*
 * gpu_choose stores at which rate gpu trains in precision ("fp32", "tf32",
 * "amp"; NULL: the first of which something is known): as measured, else
 * GPU_ASSUMED_SHARE of its peak. Errors: DIST_ERR_INVALID_ARGUMENT (neither is
 * known; message lists what is, or the GPUs). Its words go on from the figure:
 * " achieved by A100 ...", ", assumed: 0.4 of ...".
 */
DIST_MUST_CHECK enum dist_error gpu_choose(const struct gpu *gpu,
					   const char *precision,
					   struct gpu_rate *rate,
					   struct dist_message *message);

/* gpu_peak returns the highest published peak of gpu in precision, NULL in any;
 * NULL if there is none. */
const struct gpu_rate *gpu_peak(const struct gpu *gpu, const char *precision);

#endif
