/*
 * gpu.h - the rate at which a GPU trains, as others measured it:
 * measured/hardware/gpus.tsv.
 */
#ifndef LOCKSTEP_SCENARIOS_GPU_H
#define LOCKSTEP_SCENARIOS_GPU_H

#include "lockstep/dist.h"

struct gpu_rate {
	double flops;    /* achieved FLOP/s */
	char words[160]; /* "A100 SXM 80GB, ResNet-50 train amp" */
};

/*
 * gpu_find stores the first rate that there is of a GPU whose name begins with
 * gpu (any case), in precision ("fp32", "tf32", "amp"; NULL: any): of the model
 * of that name, else of any model. Errors: DIST_ERR_INVALID_ARGUMENT (there is
 * none, and message lists what there is; or the table is unusable),
 * DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error gpu_find(const char *gpu, const char *precision,
					 const char *model,
					 struct gpu_rate *rate,
					 struct dist_message *message);

#endif
