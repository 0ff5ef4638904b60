/*
 * llm_planned.h - layouts that others published as their best, among all that
 * lockstep plan looks at for the same model, GPUs, batch and framework.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_LLM_PLANNED_H
#define LOCKSTEP_MODEL_VALIDATION_LLM_PLANNED_H

#include "model/validation/llm_set.h"

struct llm_planned {
	size_t fit;    /* layouts that plan lists */
	size_t before; /* of these, those predicted to be faster */
	double loss;   /* the published one's predicted step over the fastest's,
			* less 1 */
	struct llm_layout best; /* that plan lists first */
};

/* llm_planned_is_best says whether case i is the fastest measured layout of its
 * source for its model, GPU and precision on most GPUs, of pretraining. */
bool llm_planned_is_best(const struct llm_set *set, size_t i);

/*
 * llm_planned_make searches what the source's framework has: its way to divide
 * state, its schedule, its recomputation where that is published, else the
 * least that fits. ns is the case's predicted step. Errors: as llm_plan_make.
 */
DIST_MUST_CHECK enum dist_error
llm_planned_make(struct llm_planned *planned, const struct llm_set *set,
		 size_t i, const struct llm_constants *constants, double ns,
		 int threads, struct dist_message *message);

#endif
