/*
 * llm_ratio.h - how well predictions tell which of two measured steps of one
 * source is faster, and by how much.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_LLM_RATIO_H
#define LOCKSTEP_MODEL_VALIDATION_LLM_RATIO_H

#include "model/validation/llm_set.h"

/* Tokens a second and GPU of two of the same source, release of its software,
 * section or submitter, model, GPU and precision that differ by more. */
#define LLM_RATIO_APART 0.05

struct llm_pairs {
	size_t num;
	size_t right; /* of which the faster one is predicted to be so */
};

struct llm_pairs llm_ratio_pairs(const struct llm_set *set, const double *ns);

/* Rows of one group beside its first: one setting changed. */
struct llm_ablations {
	size_t num;
	size_t close; /* whose ratio is predicted within 5 points */
	double worst; /* a fraction */
};

/* llm_ratio_ablations looks at the source of that name. */
struct llm_ablations llm_ratio_ablations(const struct llm_set *set,
					 const double *ns, const char *source);

/* Layouts of one model on as many GPUs that a source compares: whether the
 * fastest is among the predicted first three. */
struct llm_searches {
	size_t num;
	size_t first_three;
	double worst_loss; /* of tokens/s by taking the predicted first */
};

struct llm_searches llm_ratio_searches(const struct llm_set *set,
				       const double *ns, const char *source);

#endif
