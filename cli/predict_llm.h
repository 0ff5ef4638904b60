/* predict_llm.h - lockstep predict of a language model: by its closed form, or
 * with its calls simulated. */
#ifndef LOCKSTEP_CLI_PREDICT_LLM_H
#define LOCKSTEP_CLI_PREDICT_LLM_H

#include "cli/predict_options.h"

#include "cli/sweep/study.h"

/* predict_llm_check is predict_check for options of a language model. */
DIST_MUST_CHECK enum dist_error
predict_llm_check(const struct predict_options *options,
		  struct prediction_refusal *refusal);

/* predict_llm_answer is predict_answer. Options with several values are the
 * axes of study (NULL: there are none); then it compares all their
 * combinations. */
DIST_MUST_CHECK int predict_llm_answer(const struct predict_options *options,
				       const struct study *study, FILE *out);

#endif
