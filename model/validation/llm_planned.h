/*
 * llm_planned.h - published best layouts, among all that lockstep plan finds
 * for the same model, GPUs, batch and framework.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_LLM_PLANNED_H
#define LOCKSTEP_MODEL_VALIDATION_LLM_PLANNED_H

#include "model/validation/llm_set.h"

struct llm_planned {
	size_t fit;    /* layouts that plan lists */
	size_t before; /* of these, layouts predicted to be faster */
	double loss;   /* predicted step of the published layout over the
			  fastest, minus 1 */
	struct llm_layout best; /* the first in plan's list */
};

/* llm_planned_is_best returns whether case i is the fastest measured layout of
 * its source for its model, GPU and precision on the most GPUs, in pretraining.
 */
bool llm_planned_is_best(const struct llm_set *set, size_t i);

/*
 * llm_planned_make searches the layouts of the source's framework: its
 * sharding, its schedule, and its recomputation if that is published, else the
 * least that fits. ns is the case's predicted step. Errors: as llm_plan_make.
 */
DIST_MUST_CHECK enum dist_error
llm_planned_make(struct llm_planned *planned, const struct llm_set *set,
		 size_t i, const struct llm_constants *constants, double ns,
		 int threads, struct dist_message *message);

#endif
