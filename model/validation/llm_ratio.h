/*
 * llm_ratio.h - how well predictions compare two measured steps of one source.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_LLM_RATIO_H
#define LOCKSTEP_MODEL_VALIDATION_LLM_RATIO_H

#include "model/validation/llm_set.h"

/* Pairs count if they have the same source, software release, section or
 * submitter, model, GPU and precision, and their tokens a second and GPU differ
 * by more than this. */
#define LLM_RATIO_APART 0.05

struct llm_pairs {
	size_t num;
	size_t right; /* whose faster one is predicted to be faster */
};

struct llm_pairs llm_ratio_pairs(const struct llm_set *set, const double *ns);

/* Rows of a group compared with its first: one setting changed. */
struct llm_ablations {
	size_t num;
	size_t close; /* whose ratio is predicted within 5 points */
	double worst; /* a fraction */
};

/* llm_ratio_ablations returns those of source. */
struct llm_ablations llm_ratio_ablations(const struct llm_set *set,
					 const double *ns, const char *source);

/* Layouts of one model and number of GPUs in a source: whether the fastest is
 * among the predicted first three. */
struct llm_searches {
	size_t num;
	size_t first_three;
	double worst_loss; /* loss of tokens/s if the predicted first one is
			      taken */
};

struct llm_searches llm_ratio_searches(const struct llm_set *set,
				       const double *ns, const char *source);

#endif
