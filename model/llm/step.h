/*
 * step.h - how long a training step takes by closed form: the passes of work.h
 * through the pipeline, with each call's time by the library's model on links
 * of its own, and what is exposed of it.
 */
#ifndef LOCKSTEP_MODEL_LLM_STEP_H
#define LOCKSTEP_MODEL_LLM_STEP_H

#include "coll/profile.h"
#include "model/library/fabric.h"
#include "model/llm/constants.h"
#include "model/llm/memory.h"

/* Where it runs. Borrowed. */
struct llm_cluster {
	enum llm_software software;
	const struct llm_constants *constants; /* NULL: those known */
	const struct llm_device *device;
	const struct dist__profile *profile; /* the library */
	const struct fabric *fabric; /* of one node's ranks and many nodes */
	const struct llm_pace *pace; /* what software reaches; NULL: as the
				      * constants say */
	double remade;     /* of the kernels of a layer's forward pass, what is
			    * launched again for modules that are recomputed */
	double efficiency; /* of GPUs that wait on each other: 1 */
};

/* ns of a step, of the rank that is slowest; parts add up to step_ns. */
struct llm_breakdown {
	double compute_ns[LLM_KINDS]; /* the optimizer too */
	double recompute_ns;
	double again_ns[LLM_KINDS];  /* of that, kernels; added to nothing */
	double exposed_ns[LLM_AXES]; /* communication that nothing hides */
	double bubble_ns;            /* waiting for the pipeline */
	double other_ns;             /* launches, host, data */
};

struct llm_answer {
	double step_ns;
	double low_ns, high_ns; /* by the blind error of like cases; 0: none */
	double tokens_per_s_gpu;
	double tflops_per_gpu; /* model FLOP */
	double mfu, hfu;       /* shares of the precision's peak */
	struct llm_breakdown breakdown;
	struct llm_memory memory; /* of the fullest stage */
	int stage;                /* that the step waits for */
};

/*
 * llm_step answers for one layout, which is complete. Errors: INVALID_ARGUMENT
 * (message: what the library or device cannot), NO_MEMORY. work is made by the
 * pace of the same constants.
 */
DIST_MUST_CHECK enum dist_error llm_step(struct llm_answer *answer,
					 const struct llm_work *work,
					 const struct llm_cluster *cluster,
					 struct dist_message *message);

/* llm_pace_of returns the constants that steps in that precision on that device
 * were measured to have with software of today (docs/accuracy.md). */
struct llm_pace llm_pace_of(const struct llm_device *device,
			    enum llm_precision precision);

#endif
