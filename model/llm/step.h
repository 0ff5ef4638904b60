/*
 * step.h - the time of a training step by closed form: the passes of work.h
 * through the pipeline, each call timed by the library's model without other
 * traffic, and its exposed part.
 */
#ifndef LOCKSTEP_MODEL_LLM_STEP_H
#define LOCKSTEP_MODEL_LLM_STEP_H

#include "coll/profile.h"
#include "model/library/fabric.h"
#include "model/llm/constants.h"
#include "model/llm/memory.h"

/* The cluster of a step. Pointers are borrowed. */
struct llm_cluster {
	enum llm_software software;
	const struct llm_constants *constants; /* NULL: llm_constants_known() */
	const struct llm_device *device;
	const struct dist__profile *profile; /* the library */
	const struct fabric *fabric; /* of a node's ranks and many nodes */
	const struct llm_pace *pace; /* of the software; NULL: from the
					constants */
	double remade;     /* share of a layer's forward kernels that is
			      launched again for recomputed modules */
	double efficiency; /* factor for GPUs that wait for each other: 1 */
};

/* ns of a step of the slowest rank; parts add up to step_ns. */
struct llm_breakdown {
	double compute_ns[LLM_KINDS]; /* with the optimizer */
	double recompute_ns;
	double again_ns[LLM_KINDS];  /* kernels in recompute_ns, not added to
					the sum */
	double exposed_ns[LLM_AXES]; /* communication not overlapped */
	double offload_ns; /* copies to the host's memory and back that no
			      computing hides */
	double bubble_ns;  /* waiting for the pipeline */
	double other_ns;   /* launches, host, data */
};

struct llm_answer {
	double step_ns;
	double low_ns, high_ns; /* from the blind error of like cases, and none
				   or twice of LLM_STEP_NS; 0: none */
	double tokens_per_s_gpu;
	double tflops_per_gpu; /* model FLOP */
	double mfu, hfu;       /* shares of the precision's peak */
	struct llm_breakdown breakdown;
	struct llm_memory memory; /* of the fullest stage */
	int stage;                /* the slowest stage */
};

/*
 * llm_step times one complete layout. work must be made with the pace of the
 * same constants. Errors: INVALID_ARGUMENT (message: what the library or device
 * does not support), NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error llm_step(struct llm_answer *answer,
					 const struct llm_work *work,
					 const struct llm_cluster *cluster,
					 struct dist_message *message);

/* llm_pace_of returns the pace of today's software in that precision on that
 * device, fitted to measured steps (docs/accuracy.md). */
struct llm_pace llm_pace_of(const struct llm_device *device,
			    enum llm_precision precision);

#endif
